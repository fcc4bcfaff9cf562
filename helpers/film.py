"""Films: every picture of one slider drawn once, then flipped through in the page without a kernel."""


def film(view, **controls):
    raise NotImplementedError("film follows; use explore")
