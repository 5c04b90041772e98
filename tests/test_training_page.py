"""Training in the browser: the same numbers as in Python, and the page around it."""

import runpy
from fractions import Fraction

import numpy as np
import pytest
from conftest import ROOT
from test_site import CHROMIUM, SITE, browser  # noqa: F401 (a fixture)

from amol import engine
from amol.losses import LOSSES
from companion import StudySettings
from companion.page import training_page
from companion.train.runs import plan

pytestmark = [
    pytest.mark.book,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium: install it or set CHROMIUM=/its/path"),
]
PAGE = SITE / "notebooks" / "browser.html"
EXTENSION = runpy.run_path(str(ROOT / "book" / "_ext" / "training.py"))
SCRIPTS = ROOT / "book" / "_static" / "train"
TRAIN = """([source, message]) => new Promise((resolve, reject) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  for (const [name, part] of Object.entries(message.parts)) {
    message.data[name] = { X: new Float32Array(bytes(part.X).buffer), y: bytes(part.y) };
  }
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  worker.onerror = (event) => reject(event.message);
  worker.onmessage = ({ data }) => data.done && resolve({ ...data, labels: [...data.labels] });
  worker.postMessage(message);
})"""


@pytest.fixture
def page(browser, tmp_path):  # noqa: F811
    """A page in a folder without anything on it."""
    (tmp_path / "bare.html").write_text("<!doctype html><title>bare</title>")
    made = browser.new_context().new_page()
    made.set_default_timeout(600_000)
    made.goto((tmp_path / "bare.html").as_uri())
    yield made
    made.context.close()


def evaluate(page, expression, argument=None):
    """Value of a JavaScript function in the presence of the worker's scripts."""
    source = EXTENSION["worker_source"](SCRIPTS)
    return page.evaluate(
        f"(argument) => {{ {source}; return ({expression})(argument); }}", argument
    )


def rounded(x: Fraction) -> float:
    """The float32 number next to a fraction, of two the even one."""
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()  # it is dyadic
    value = round(x / Fraction(2) ** (max(exponent, -126) - 23))  # to even at ties
    value *= Fraction(2) ** (max(exponent, -126) - 23)
    return float(value) if abs(value) < 2**128 else float(np.copysign(np.inf, float(x)))


def triples(count: int):
    """a, b, c near half-way sums: normal, subnormal, near overflow; random ones; exact ties."""
    rng = np.random.default_rng(1)
    top = float(np.finfo("f4").max)
    for _ in range(count):
        x, sign = int(rng.integers(4)) * 2.0**-23, rng.choice([-1.0, 1.0], 2)
        e, shift, m = int(rng.integers(-90, 90)), int(rng.integers(-30, 30)), rng.integers(2**23)
        one, other = e // 2 - 12 + shift, e - e // 2 - 12 - shift
        a, b = sign[0] * (1 + x), 1 - x
        yield a * 2.0**one, b * 2.0**other, sign[1] * (1 + m * 2.0**-23) * 2.0**e
        low = int(rng.integers(1, 2 ** int(rng.integers(1, 24))))
        yield a * 2.0**-75, b * 2.0**-75, sign[1] * low * 2.0**-149
        yield a * 2.0**51, b * 2.0**52, sign[1] * top * (1 - (m % 2) * 2.0**-23)
        yield tuple(rng.normal(size=3))
        yield tuple(rng.normal(size=3) * 2.0 ** rng.integers(-140, 120, 3))
        few = rng.integers(-4096, 4096, 2) * 2.0**-12
        yield few[0], few[1] if m % 2 else 1.0, rng.normal() * 2.0 ** int(rng.integers(-3, 4))


def test_fused_multiply_add_is_exact(page):
    with np.errstate(over="ignore"):
        given = np.array(list(triples(2000))).astype(np.float32).astype(float)
    given = given[np.isfinite(given).all(axis=1)]
    exact = [rounded(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in given.tolist()]
    with np.errstate(over="ignore"):
        twice = (given[:, 0] * given[:, 1] + given[:, 2]).astype(np.float32)
    assert np.count_nonzero(twice != exact) > len(given) / 10  # the cases are hard ones
    found = evaluate(page, """(triples) => {
      const product = new Product(1, 1), c = new Float64Array(16), text = (x) => String(x);
      const eight = (x) => new Float64Array(8).fill(x);
      return triples.map(([a, b, x]) => {
        product.multiply(matrix([a], 0, 1, 1), matrix(eight(b), 0, 1, 8), c, eight(x), 0);
        return [fma(a, b, x), ...c.slice(0, 8)].map(text);
      });
    }""", given.tolist())  # fmt: skip
    assert np.array_equal(np.array(found, dtype=float), np.repeat(np.c_[exact], 9, axis=1))


def test_random_numbers_are_numpys(page):
    for seed in (0, 7, 2**32 - 1):
        drawn = evaluate(page, """(seed) => {
          const random = new RandomState(seed);
          const samples = Array.from({ length: 700 }, () => random.sample());
          return [samples, [1, 2, 959, 2506].map((n) => [...random.permutation(n)])];
        }""", seed)  # fmt: skip
        random = np.random.RandomState(seed)
        assert drawn[0] == random.random_sample(700).tolist()
        assert drawn[1] == [random.permutation(n).tolist() for n in (1, 2, 959, 2506)]


@pytest.mark.parametrize("K", range(3, 11))
def test_tables_are_those_of_the_losses(page, K):
    for name in training_page.LOSSES:
        for alpha, sigma in ((1.0, 1.0), (0.3, 0.7), (4.0, 2.5)):
            settings = StudySettings(alpha=alpha, sigma=sigma)
            loss = LOSSES[name](num_classes=K, **settings.parameters(name))
            tables = engine.registry.formula(loss).tables[..., :K]
            read = "(of) => Object.values(lossTables(...of)).map((table) => [...table])"
            found = evaluate(page, read, [name, K, alpha, sigma])
            assert np.array_equal(np.array(found), tables.reshape(len(tables), -1)), name


def check_bits(page, dataset, method, seed, **chosen):
    settings = StudySettings(datasets=[dataset], methods=[method], seeds=[seed], **chosen)
    run = plan(settings)[0]
    outcome = engine.train(run.loss, seed, run.data.arrays, settings.protocol)
    given = training_page.page_data(settings, [method])
    data = {"classes": run.data.arrays.num_classes}
    message = {"loss": method, "alpha": settings.alpha, "sigma": settings.sigma, "seed": seed,
               "data": data, "parts": given["sets"][dataset]["parts"],
               "protocol": given["protocol"]}  # fmt: skip
    found = page.evaluate(TRAIN, [EXTENSION["worker_source"](SCRIPTS), message])
    assert found["digest"] == outcome.weights_digest
    assert found["labels"] == outcome.y_pred.tolist()
    assert (found["bestEpoch"], found["epochs"]) == (outcome.best_epoch, outcome.epochs)
    return found


@pytest.mark.parametrize("dataset, method, alpha, sigma, seed", [
    ("Wine Red", "CE", 1.0, 1.0, 0), ("Wine Red", "AMOL", 1.0, 1.0, 1),
    ("Wine Red", "OLL", 1.0, 1.0, 2), ("Abalone", "CE", 1.0, 1.0, 0),
    ("Abalone", "AMOL-asym", 2.0, 0.8, 3), ("Abalone", "SORD", 1.0, 1.0, 4),
    ("Abalone", "KL", 1.0, 1.0, 2**32 - 1),
])  # fmt: skip
def test_browser_ends_with_the_same_bits(page, dataset, method, alpha, sigma, seed):
    check_bits(page, dataset, method, seed, alpha=alpha, sigma=sigma, epochs=45)


@pytest.mark.parametrize("hidden, layers, batch_size", [(13, 3, 50), (5, 1, 7), (131, 2, 2000)])
def test_other_shapes_end_with_the_same_bits(page, hidden, layers, batch_size):
    shape = {"hidden": hidden, "layers": layers, "batch_size": batch_size}
    check_bits(page, "Wine Red", "AMOL", 3, lr=0.01, epochs=12, **shape)


def test_page_data_refuses_what_the_browser_does_not_know():
    with pytest.raises(ValueError, match="methods holds 'CORAL'"):
        training_page.page_data(StudySettings(methods=["CE", "CORAL"]), ["CE"])
    with pytest.raises(ValueError, match="dropout"):
        training_page.page_data(StudySettings(methods=["CE"], dropout=0.5), ["CE"])


needs_page = pytest.mark.skipif(not PAGE.exists(), reason="no page in _build/html: run `make book`")


@needs_page
def test_recorded_run_is_equal_and_the_page_asks_nobody(browser):  # noqa: F811
    context = browser.new_context(viewport={"width": 400, "height": 800}, offline=True)
    page, faults = context.new_page(), []
    page.set_default_timeout(600_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url)
            if not request.url.startswith(("file:", "data:", "blob:")) else None)  # fmt: skip
    page.goto(PAGE.as_uri() + "#data=Wine+Red&a=AMOL&b=OLL&alpha=1&sigma=1&seed=3")
    cancel = page.get_by_role("button", name="Cancel")
    page.locator(".train-confusion").first.wait_for()
    cancel.press("Enter")
    assert page.locator(".train [role=status]").inner_text() == "Cancelled."
    page.get_by_role("button", name="Train again").press("Enter")
    page.locator(".train-verdict").nth(1).wait_for()
    verdicts = page.locator(".train-verdict strong").all_inner_texts()
    assert verdicts == ["Equal, bit for bit: weights and test predictions."] * 2
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert faults == []
    context.close()


@needs_page
def test_it_opens_with_what_the_book_has_trained(browser):  # noqa: F811
    page = browser.new_context().new_page()
    page.goto(PAGE.as_uri())
    assert "KL" in page.locator(".train-name").first.inner_text()
    assert page.get_by_label("data set").input_value() == "Abalone"
    told = page.locator(".train-verdict").all_inner_texts()
    assert len(told) == 2 and page.locator(".train-chart").count() == 0
    for method, text in zip(("KL", "AMOL"), told, strict=True):
        row = page.locator("#tab-browser tbody tr", has_text="Abalone").filter(
            has=page.get_by_text(method, exact=True)
        )
        cells = row.locator("td").all_inner_texts()
        assert f"QWK {cells[3]}, CHR_ext {cells[4]}" in text
        assert f"epoch {cells[2]} of" in text
    page.context.close()


@needs_page
def test_own_file_trains_and_a_bad_one_is_refused(browser, tmp_path):  # noqa: F811
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=120), np.arange(120) % 5
    lines = [f'"{y[i]}, text",{x[i] + y[i]},{y[i] + 1}' for i in range(120)]
    (tmp_path / "good.csv").write_text("\n".join(["note,x,grade", *lines]))
    (tmp_path / "bad.csv").write_text("\n".join(["note,x,grade", *lines]).replace(",1\n", ",one\n"))
    page = browser.new_context().new_page()
    page.set_default_timeout(600_000)
    page.goto(PAGE.as_uri())
    page.get_by_label("data set").select_option("your own CSV file")
    status = page.locator(".train [role=status]")
    said_now = "said => document.querySelector('.train [role=status]').innerText.includes(said)"
    for name, said in (("bad.csv", "labels have to be numbers"), ("good.csv", "Done.")):
        page.locator("input[type=file]").set_input_files(tmp_path / name)
        page.wait_for_function(said_now, arg="rows")
        page.get_by_role("button", name="Train").click()
        page.wait_for_function(said_now, arg=said)
    assert "The book has no run" in page.locator(".train-verdict").first.inner_text()
    assert status.inner_text() == "Done."
    page.context.close()


@needs_page
def test_without_scripts_the_recorded_run_stands_there(browser):  # noqa: F811
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(PAGE.as_uri())
    assert page.locator("#fig-browser img").bounding_box()["height"] > 200
    assert page.locator("#tab-browser tbody tr").count() == 12
    assert page.locator(".train").count() == 0
    page.context.close()
