"""Which names cells hand to one another: a name that several cells bind depends on which ran last."""

import ast
import re

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
GENERATOR = re.compile(r"torch\.Generator\(")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def leaks(cells: list[str]) -> list[str]:
    """One line for each name that a cell reads from outside and that several cells bind.

    cells: the code of a notebook's cells. Rerunning one that binds such a name changes what the reader
    sees. The same import in two cells is the same name.
    """
    seen = [names(code) for code in cells]
    found = []
    for reader, (_, read) in enumerate(seen):
        for name in sorted(read):
            binders = [
                (number, bound[name]) for number, (bound, _) in enumerate(seen) if name in bound
            ]
            if len({what or number for number, what in binders}) > 1:
                numbers = [number for number, _ in binders]
                found.append(f"cell {reader} reads {name}, which cells {numbers} bind")
    return found


def shared_generators(cells: list[str]) -> list[str]:
    """One line for each cell that draws from a generator of another: what it gets depends on both."""
    found = []
    for maker, code in enumerate(cells):
        pairs = [
            pair
            for statement in ast.parse(code).body
            if isinstance(statement, ast.Assign)
            for pair in _pairs(statement)
        ]
        made = {name for name, value in pairs if GENERATOR.match(value)}
        for reader, other in enumerate(cells):
            if reader != maker and (drawn := made & names(other)[1]):
                found.append(f"cell {reader} draws from {sorted(drawn)} of cell {maker}")
    return found


def _pairs(statement) -> list[tuple[str, str]]:
    """(name, the code of its value) for each name that an assignment sets."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        both = zip(target.elts, value.elts, strict=True)
    else:
        both = [(target, value)]
    return [(ast.unparse(name), ast.unparse(given)) for name, given in both]


def names(code: str) -> tuple[dict[str, str], set[str]]:
    """(bound, read): what a cell binds, with the import that does it or "", and reads from outside.

    A name read inside a function is read whenever it is called, so it counts even where the cell binds it.
    """
    cell = _Cell()
    cell.visit(ast.parse(code))
    return cell.bound, cell.read


class _Cell(ast.NodeVisitor):
    """Visits in the order of execution, so that what is bound first is not read from outside."""

    def __init__(self):
        self.bound, self.read, self.local = {}, set(), []

    def _bind(self, name, what=""):
        if not any(name in local for local in self.local):
            self.bound[name] = what

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id)
        elif not any(node.id in local for local in self.local):
            in_function = any(isinstance(local, _Locals) for local in self.local)
            if in_function or node.id not in self.bound:
                self.read.add(node.id)

    def visit_Import(self, node):
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._bind(name, f"{getattr(node, 'module', '')}.{alias.name}")

    visit_ImportFrom = visit_Import

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self.visit(node.target)

    def visit_For(self, node):
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_FunctionDef(self, node):
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)
        self._bind(node.name)
        self._inside(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for part in node.args.defaults:
            self.visit(part)
        self._inside(node, [node.body])

    def visit_keyword(self, node):
        if node.arg == "key" and isinstance(
            node.value, ast.Lambda
        ):  # of max or sorted: called at once
            self._inside(node.value, [node.value.body], set)
        else:
            self.visit(node.value)

    def visit_ClassDef(self, node):
        for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self.visit(part)
        self._bind(node.name)
        self.local.append(_stored(node.body))
        for part in node.body:
            self.visit(part)
        self.local.pop()

    def _inside(self, node, body, kind=None):
        given = node.args
        args = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        stored = _stored(body) | {arg.arg for arg in args if arg is not None}
        self.local.append((kind or _Locals)(stored))
        for part in body:
            self.visit(part)
        self.local.pop()

    def generic_visit(self, node):
        if not isinstance(node, COMPREHENSIONS):
            return super().generic_visit(node)
        self.visit(node.generators[0].iter)
        self.local.append(_stored([generator.target for generator in node.generators]))
        super().generic_visit(node)
        self.local.pop()


class _Locals(set):
    """The local names of a function; a plain set holds those of a class or a comprehension."""


def _stored(body) -> set[str]:
    """The names that these statements bind in their own scope."""
    found, waiting = set(), list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(node))
    return found
