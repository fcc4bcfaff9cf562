"""One module a lesson. In each, by the exercise's name:

RIGHT: tuples of arguments to the check, which must say "Right."
WRONG: (arguments, words) pairs: the hint must hold these words, a regular expression.
NEVER: what no hint may say, a regular expression: the number asked for, or the step that makes the
solution.
"""
