"""Pictures of concepts in the lessons: a lesson holds its pictures as attachments of its text.

    course_pictures.py    draw the pictures of all lessons again, into the lessons

Nothing has to run before they are seen, and a lesson stays one file.
"""

import base64
import re
from pathlib import Path

import nbformat
import pictures_1_to_6
import pictures_7_to_12
from course_drawing import png

#: a picture of a lesson's text, in Markdown
PICTURE = re.compile(r"!\[(.*?)\]\(attachment:(\w+)\.png\)")
DRAWN = vars(pictures_1_to_6) | vars(pictures_7_to_12)


def draw(name: str, *steps: int, dpi: int = 150) -> bytes:
    """Return a picture, or a picture up to a step."""
    return png(DRAWN[name](*steps), dpi)


def about(name: str) -> str:
    """Return a picture's alternative text: the second paragraph of its docstring."""
    return " ".join(DRAWN[name].__doc__.split("\n\n")[1].split())


def main() -> None:
    """Draw the pictures that the lessons name, into them."""
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        lesson = nbformat.read(path, as_version=4)
        for cell in lesson.cells:
            for _, name in PICTURE.findall(cell.source):
                picture = base64.b64encode(draw(name)).decode()
                cell.setdefault("attachments", {})[f"{name}.png"] = {"image/png": picture}
        path.write_text(nbformat.writes(lesson, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
