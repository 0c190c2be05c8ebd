"""Draws lines over time as SVG: one field for each title, below each other."""

from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, TOP = 720, 120, 60, 24
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700")


@dataclass(frozen=True)
class Line:
    title: str
    name: str
    points: list[tuple[float, float]]


def svg(lines: list[Line], unit: str) -> str:
    """The picture of some lines, whose first coordinate has a unit."""
    titles = list(dict.fromkeys(line.title for line in lines))
    names = list(dict.fromkeys(line.name for line in lines))
    end = max((x for line in lines for x, _ in line.points), default=1) or 1
    parts = []
    for row, title in enumerate(titles):
        top = TOP + row * (HEIGHT + 40)
        field = [line for line in lines if line.title == title]
        greatest = max((y for line in field for _, y in line.points), default=1) or 1
        parts.append(f'<text x="{LEFT}" y="{top - 6}">{escape(title)}</text>')
        parts.append(f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{greatest:.4g}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>')
        for line in field:
            points = " ".join(
                f"{LEFT + x / end * WIDTH:.1f},{top + HEIGHT - y / greatest * HEIGHT:.1f}" for x, y in line.points
            )
            colour = COLOURS[names.index(line.name) % len(COLOURS)]
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>')
    height = TOP + len(titles) * (HEIGHT + 40) + 20
    for index, name in enumerate(names):
        colour = COLOURS[index % len(COLOURS)]
        parts.append(f'<text x="{LEFT + index * 90}" y="{height - 8}" fill="{colour}">{escape(name)}</text>')
    parts.append(f'<text x="{LEFT + WIDTH}" y="{height - 8}" text-anchor="end">{end:.0f} {escape(unit)}</text>')
    size = f'viewBox="0 0 {LEFT + WIDTH + 20} {height}"'
    style = 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n' + "\n".join(parts) + "\n</svg>\n"
