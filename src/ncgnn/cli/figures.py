"""The part of ``ncgnn reproduce`` that makes the paper's figures."""

from pathlib import Path

FIGURES = ("fig3", "fig5", "fig6")
INTRODUCTION = (
    "The paper's figures about what the model learns, made by\n\n"
    "```\nncgnn reproduce fig3 fig5 fig6 --markdown docs/figures.md\n```\n\n"
    "The models have the presets of their graphs, split 0 and seed 0, and are trained on one thread without the test "
    "labels. The numbers behind each figure are CSV files in `results/figures`, of which `-runs.csv` says with which "
    "settings and versions. With `--report-only` the figures are drawn from these files, and nothing is trained."
)


def reproduce_figures(names: list[str], results: Path, markdown: Path | None, report_only: bool) -> None:
    """Train what the figures show, unless only asked for a report, and draw them."""
    from ncgnn.classifier.run_folder import check_writable
    from ncgnn.cli.graph import notices
    from ncgnn.cli.progress import runs as progress
    from ncgnn.experiments import figures

    folder, page = results / "figures", markdown or results / "figures.md"
    for place in (folder, page.parent / "figures"):
        check_writable(place)
    for name in [] if report_only else dict.fromkeys(names):
        with notices(), progress(name, figures.FIGURES[name].steps) as done:
            figures.measure(name, folder, done)
    pictures = figures.report(names, folder, page, INTRODUCTION)
    print(f"tables in {folder}, pictures {', '.join(map(str, pictures))}, page {page}")
