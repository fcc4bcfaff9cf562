"""The shared module behind the notebooks: small files, one job each.

Nothing is imported here, so that `import helpers` costs nothing and a lesson pays only for what it uses.
"""

# PyPI has another package named `helpers`; the notebooks' setup cell looks for this name to tell them
# apart.
COLLECTION = "adarms-notebooks"
