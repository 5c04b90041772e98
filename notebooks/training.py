# %% [markdown]
# # Use it in your own training
#
# A loss of this package is a `torch.nn.Module` on logits, so it goes wherever
# `torch.nn.CrossEntropyLoss` goes. Each cell below is run when the book is built. `pip install` of
# the package alone brings the losses with PyTorch and NumPy and nothing else. Who wants a trained
# model and no loop takes [the classifier](use_it.ipynb).

# %% tags=["parameters"]
method: str = "AMOL"  # loss to train with, a key of LOSSES with logits for all classes
epochs: int = 20  # passes over the training part, at least 1

# %% [markdown]
# ## Pick a loss
#
# `LOSSES` maps names to classes. Parameters have the paper's names; `num_classes` is all that is
# needed. Bad input is refused before any arithmetic, with a message that names it.

# %% tags=["show-input"]
import torch

from amol.losses import LOSSES
from companion import load_dataset
from companion.data.dataset import split, standardize

if method not in LOSSES or LOSSES[method](num_classes=7).num_logits != 7 or epochs < 1:
    raise ValueError(f"method is {method!r}, epochs is {epochs}; allowed: {', '.join(LOSSES)}")
criterion = LOSSES[method](num_classes=7)
print(criterion)
try:
    criterion(torch.zeros(2, 7), torch.tensor([3, 7]))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# ## A plain PyTorch loop
#
# The wines again; the loss is the only line that differs from a loop with cross-entropy.

# %% tags=["show-input"]
wine = load_dataset("Wine White")
train, validation, test = split(wine.y, 42)
X = torch.tensor(standardize(wine.X, train), dtype=torch.float32)
y = torch.tensor(wine.y)

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(X.shape[1], 128), torch.nn.ReLU(), torch.nn.Linear(128, wine.num_classes)
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(epochs):
    for rows in torch.as_tensor(train)[torch.randperm(len(train))].split(256):
        optimizer.zero_grad()
        criterion(model(X[rows]), y[rows]).backward()
        optimizer.step()

# %% [markdown]
# Metrics take labels as arrays or tensors, and a `sample_weight` where samples don't count alike. A
# hedging rate is read together with the center recall ([Discussion: what the hedging rate doesn't
# see](07_discussion.ipynb)), and [Reference of losses and metrics](api.ipynb) lists them all.

# %% tags=["show-input"]
from amol.metrics import METRICS

with torch.no_grad():
    labels = criterion.predict(model(X[test]))
for name in ("QWK", "CHR_ext", "center_recall", "accuracy"):
    print(f"{name:14}{METRICS[name](y[test], labels, wine.num_classes):.3f}")

# %% [markdown]
# ## skorch, in a scikit-learn pipeline
#
# With [skorch](https://skorch.readthedocs.io) a network becomes a scikit-learn estimator, and
# `scorers` gives the metrics with the signs that `GridSearchCV` expects. Here it chooses
# AMOL's strength by cross-validated QWK.

# %% tags=["show-input"]
import skorch
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from amol.losses import AMOLLoss
from amol.metrics import scorers


class Net(torch.nn.Sequential):
    def __init__(self, features=11, classes=7):
        layers = [torch.nn.Linear(features, 64), torch.nn.ReLU(), torch.nn.Linear(64, classes)]
        super().__init__(*layers)


# %% tags=["show-input"]
network = skorch.NeuralNetClassifier(
    Net, criterion=AMOLLoss, criterion__num_classes=7, classes=list(range(7)),
    optimizer=torch.optim.Adam, lr=1e-3, max_epochs=min(epochs, 6), batch_size=256,
    train_split=None, verbose=0,
)  # fmt: skip
search = GridSearchCV(
    make_pipeline(StandardScaler(), network),
    {"neuralnetclassifier__criterion__alpha": [0.5, 1.0, 2.0]},
    scoring=scorers(7)["QWK"], cv=2,
)  # fmt: skip
torch.manual_seed(0)
search.fit(wine.X[train].astype("float32"), wine.y[train])
print("alpha:", search.best_params_["neuralnetclassifier__criterion__alpha"])
print(f"cross-validated QWK: {search.best_score_:.3f}")

# %% [markdown]
# ## Lightning
#
# In a [Lightning](https://lightning.ai/docs/pytorch/stable/) module the loss is a submodule like
# any other: its class weights move with the module to another device and are saved with it. Logger,
# checkpoints and progress bar are off here, so that the page leaves no files behind.

# %%
import logging
import warnings

logging.getLogger("pytorch_lightning.utilities.rank_zero").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="pytorch_lightning")

# %% tags=["show-input"]
import pytorch_lightning as lightning
from torch.utils.data import DataLoader, TensorDataset


class OrdinalModule(lightning.LightningModule):
    def __init__(self, criterion):
        super().__init__()
        self.net, self.criterion = Net(classes=criterion.num_logits), criterion

    def training_step(self, batch, index):
        features, labels = batch
        return self.criterion(self.net(features), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


# %% tags=["show-input"]
quiet = {"enable_progress_bar": False, "enable_model_summary": False}
torch.manual_seed(0)
module = OrdinalModule(LOSSES[method](num_classes=7))
batches = DataLoader(TensorDataset(X[train], y[train]), batch_size=256, shuffle=True)
trainer = lightning.Trainer(
    max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, **quiet
)
trainer.fit(module, batches)
with torch.no_grad():
    labels = module.criterion.predict(module.net(X[test]))
print(f"test QWK: {METRICS['QWK'](y[test], labels, 7):.3f}")

# %% [markdown]
# ## Labels that aren't sure, distances of your own
#
# Where several people judged a sample, its target may be the distribution of their labels; the loss
# is then the mean over it. And a loss that is made of distances between classes takes a table of
# yours in place of $|k - y|$: here the step from the third class to the fourth is three steps wide.

# %% tags=["show-input"]
sure, torn = torch.tensor([[0.0, 0, 1, 0]]), torch.tensor([[0.0, 0.5, 0.5, 0]])
logits = torch.tensor([[0.0, 1.0, 1.0, 0.0]])
place = torch.tensor([0.0, 1, 2, 5])
distance = (place - place[:, None]).abs()
for loss in (LOSSES["SORD"](4), LOSSES["SORD"](4, distance=distance)):
    print(f"{loss(logits, sure):.3f} sure of the third class, {loss(logits, torn):.3f} torn")

# %% [markdown]
# ## Heads with one logit fewer
#
# CORAL and CORN take $K - 1$ logits. `num_logits` tells how wide the last layer must be,
# `probabilities` and `predict` turn logits into answers, for every loss in the same way.

# %% tags=["show-input"]
for name in ("AMOL", "CORN", "CORAL"):
    loss = LOSSES[name](num_classes=7)
    logits = torch.linspace(2, -2, loss.num_logits)[None]
    probabilities = loss.probabilities(logits)
    print(f"{name:6}{loss.num_logits} logits, label {loss.predict(logits).item()},",
          f"probabilities sum to {probabilities.sum():.3f}")  # fmt: skip

# %% [markdown]
# ## A loss of your own
#
# A function that gives one value per sample becomes a loss with reduction, class weights and
# checks. Once registered it can be trained by the study and appears in its tables.

# %% tags=["show-input"]
from amol.losses import register_loss
from companion import StudySettings, run_study
from companion.page import footer


@register_loss("squared distance")
def squared_distance(logits, target, num_classes):
    """Σ_k (k − y)² ŷ_k: the expected squared distance."""
    k = torch.arange(num_classes)
    return ((k - target[:, None]) ** 2 * logits.softmax(-1)).sum(-1)


settings = StudySettings("Wine Red", "CE, squared distance", seeds=2, epochs=max(2, epochs))
runs = run_study(settings, workers=1, progress=False)
runs.groupby("method", sort=False)[["QWK", "CHR_ext", "center_recall"]].mean().round(3)

# %% tags=["remove-input"]
footer(settings, runs)
