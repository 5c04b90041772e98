"""Sphinx extension of the book: Colab's button opens the copy that installs the project."""

from companion.book.colab import BRANCH


def lead_to_copy(app, pagename, templatename, context, doctree) -> None:
    """Let Colab's button alone open another branch, that of `companion.book.colab`."""
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("text") == "Colab":
                repository = button["url"].partition("/blob/")[0]
                button["url"] = f"{repository}/blob/{BRANCH}/{pagename}.ipynb"


def setup(app):
    app.connect("html-page-context", lead_to_copy, priority=900)  # after the theme's buttons
    return {"parallel_read_safe": True, "parallel_write_safe": True}
