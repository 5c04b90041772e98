"""What the server of a build's kernels holds: libraries loaded, and our own code's fingerprints.

Nothing in it may change what another module gives, as a registration of losses would.
"""

import altair  # noqa: F401
import ipykernel.debugger
import ipykernel.kernelapp  # noqa: F401
import matplotlib.backends.backend_pdf
import matplotlib.backends.backend_svg
import matplotlib.pyplot  # noqa: F401
import myst_nb.ext.glue  # noqa: F401
import pandas.io.formats.csvs
import pandas.io.formats.html  # noqa: F401
import scipy.stats  # noqa: F401
import tabulate  # noqa: F401
import torch._dynamo  # noqa: F401

import amol.execution
import amol.figures
import amol.kernels
import amol.tables  # noqa: F401
from amol.datasets import standardize
from amol.losses import LOSSES
from amol.plan import code_of
from amol.study import run_studies  # noqa: F401
from amol.training import train_stack

code_of(train_stack, standardize)
for loss in LOSSES.values():
    code_of(loss)
