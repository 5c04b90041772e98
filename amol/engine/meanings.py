"""Meanings of outputs: labels and class probabilities from logits.

A loss names its meaning; a new one takes a function here. Keys count functions as `kinds` says.
Each takes logits z (n, ·) and the number of a class that never occurs, or −1; it fills
probabilities (n, K) and labels (n,).
"""

from .arithmetic import compiled, exp32, f4, logistic


@compiled
def softmax_labels(z, without, probabilities, labels):
    """The most probable class, the first of ties; class ``without`` never occurs."""
    K = probabilities.shape[1]
    for i in range(len(labels)):
        top, total = 1 if without == 0 else 0, f4(0)
        for k in range(top + 1, K):
            top = k if k != without and z[i, k] > z[i, top] else top
        for k in range(K):
            e = exp32(z[i, k] - z[i, top]) if k != without else f4(0)
            probabilities[i, k] = e
            total += e
        for k in range(K):
            probabilities[i, k] /= total
        labels[i] = top


@compiled
def cumulative_labels(z, without, probabilities, labels):
    """From the log odds of y > k, k = 0 … K − 2: how many are above 0."""
    K = probabilities.shape[1]
    for i in range(len(labels)):
        labels[i], passed = 0, f4(1)  # passed: P(y > k − 1)
        for k in range(K - 1):
            above = logistic(z[i, k])[1]
            least = above if above < passed else passed
            probabilities[i, k] = passed - least
            passed = least
            labels[i] += z[i, k] > f4(0)
        probabilities[i, K - 1] = passed


@compiled
def conditional_labels(z, without, probabilities, labels):
    """From the log odds of y > k given y ≥ k: how many of their products are above ½."""
    K = probabilities.shape[1]
    for i in range(len(labels)):
        labels[i], passed = 0, f4(1)  # passed: P(y > k − 1)
        for k in range(K - 1):
            _, above, below = logistic(z[i, k])
            probabilities[i, k] = passed * below
            passed = passed * above
            labels[i] += passed > f4(0.5)
        probabilities[i, K - 1] = passed


@compiled
def ordered_labels(z, without, probabilities, labels):
    """From the logits of `ordered_cuts`: the most probable class, the first of ties."""
    K = probabilities.shape[1]
    for i in range(len(labels)):
        cut, passed, top = z[i, 0], f4(1), 0  # passed: P(y > k − 1)
        for k in range(K - 1):
            joins = f4(1)
            if k > 0:
                step, joins, _ = logistic(z[i, k] - z[i, 0])
                cut -= step
            _, above, below = logistic(cut)
            probabilities[i, k] = passed * below * joins
            passed = above
        probabilities[i, K - 1] = passed
        for k in range(1, K):
            top = k if probabilities[i, k] > probabilities[i, top] else top
        labels[i] = top
