"""What a kernel runs before a notebook begins, so that a warning about our own calls is an error there.

Not any warning: what the kernel's own packages say to each other (ipykernel, tornado, zmq) is not ours.
"""

OURS = (
    r"(__main__|helpers|torch|numpy|matplotlib|mpl_toolkits|ipywidgets|PIL|safetensors|tqdm)(\.|$)"
)
STARTUP = f"import warnings\nwarnings.filterwarnings('error', module={OURS!r})\n"
