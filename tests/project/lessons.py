"""What of the lessons only the lecturer may see."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]


def secrets_of_lessons():
    """Return lines of solutions and hidden tests, and sentences of the model answers."""
    lines = set()
    for path in (ROOT / "notebooks" / "course").glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            tags = cell.metadata.get("tags", [])
            if "model-answer" in tags:
                words = re.sub(r"[*`$]", "", cell.source)
                lines |= {one for one in re.split(r"[.;:?!(]\s|\$", words) if len(one) > 40}
            for part in re.findall(
                r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)\s*### END", cell.source, re.DOTALL
            ):
                lines |= {line.strip() for line in part.splitlines() if len(line.strip()) > 25}
    assert len(lines) > 150
    return {" ".join(line.split()) for line in lines}


def exam_answers():
    guide = (ROOT / "notebooks" / "course" / "INSTRUCTOR.md").read_text()
    answers = [line.strip() for line in guide.splitlines() if re.match(r"   \S", line)]
    assert len(answers) >= 16
    return {" ".join(answer.split())[:60] for answer in answers}
