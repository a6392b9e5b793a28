"""A run as one self-contained page: verdict, evidence, crucial values and charts.

The page loads nothing and runs no script, so it can be attached to an issue or kept with a paper.
Text from logs is escaped; settings are shown only on demand, and never what looks like a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter

from ppo_top import __version__
from ppo_top.model import Axis, ConfigValue, Finding, Severity, Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.reports.compared_chart import ComparedCurve, compared_chart, compared_curve
from ppo_top.output.reports.svg_chart import svg_chart
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.text.format import (
    clean,
    count,
    format_metric_value,
    healthy_text,
    plural,
    steps,
)
from ppo_top.text.marks import MARKS
from ppo_top.text.secrets_in_text import is_secret, without_secrets
from ppo_top.views.checklist import in_order_of_need, rows_on_screen
from ppo_top.views.curves import PanelTrack
from ppo_top.views.explanation import explain_verdict
from ppo_top.views.run_view import CheckRow, OpenFinding, RunView, make_run_view

MAX_RUNS = 50
"""Runs on one page; the worst come first."""

MAX_CHARTS = 80
"""Charts of a run; those in trouble, then the crucial values come first."""

MAX_SETTINGS = 500

_NUMBERS = frozenset({"step", "now", "from", "to"})
"""Heads of columns of numbers."""

_STYLE = """
:root{--back:#fff;--text:#1c1e21;--dim:#5c636b;--line:#d5d9de;--card:#f6f7f9;--ok:#1a7f37;
--info:#0b63c5;--watch:#7d6000;--warn:#a24500;--crit:#c0152f}
@media(prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e8eb;--dim:#a0a8b1;--line:#343a41;
--card:#1c2026;--ok:#4ac26b;--info:#6cb2ff;--watch:#e0bd3c;--warn:#ff9b50;--crit:#ff6b76}}
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--back);
color:var(--text);font:15px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.25rem;margin:2rem 0 .3rem}
h3{font-size:1rem;margin:1.2rem 0 .4rem}p{margin:.3rem 0}
a{color:inherit}.dim,.facts{color:var(--dim)}.ok{color:var(--ok)}.info{color:var(--info)}
.watch{color:var(--watch)}.warn{color:var(--warn)}.crit{color:var(--crit)}
.missing,.warming-up{color:var(--dim)}
.verdict,.finding{border:1px solid var(--line);border-left:5px solid currentColor;
border-radius:6px;background:var(--card);padding:.6rem .9rem;margin:.6rem 0}
.verdict>*,.finding>*{color:var(--text)}.verdict .title,.finding .title{color:inherit;
font-weight:600}ol{margin:.2rem 0;padding-left:1.4rem}dl{display:grid;margin:.3rem 0;
grid-template-columns:max-content 1fr;gap:.1rem .8rem}dt{color:var(--dim)}dd{margin:0;grid-column:2}
table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--dim);font-weight:400}
td,th{padding:.15rem .6rem .15rem 0;border-bottom:1px solid var(--line);vertical-align:top}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:.6rem}
figure{margin:0;border:1px solid var(--line);border-radius:6px;padding:.4rem;background:var(--card)}
figcaption{display:flex;justify-content:space-between;gap:.5rem;font-size:.85rem}
svg{width:100%;height:auto;display:block;overflow:visible}svg text{fill:var(--dim);
font:9px system-ui,sans-serif;paint-order:stroke;stroke:var(--card);stroke-width:3px}
svg path{fill:none;stroke:currentColor;stroke-width:1.2;vector-effect:non-scaling-stroke}
svg path.limit{color:var(--dim);stroke-dasharray:4 3}svg path.ok,svg path.info{color:var(--info)}
svg path.range{fill:currentColor;fill-opacity:.25;stroke-width:.5;stroke-opacity:.4}
.runs{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;list-style:none;margin:.3rem 0;padding:0;
font-size:.85rem}.runs li::before{content:"━━ ";color:var(--run)}
.run0{--run:#0b84d8}.run1{--run:#d1660a}.run2{--run:#1a9850}.run3{--run:#b5459b}.run4{--run:#8a7a00}
.run5{--run:#d6336c}.run6{--run:#0f9aa8}.run7{--run:#7b61d1}.run8{--run:#8c564b}.run9{--run:#808890}
svg [class^=run]{color:var(--run);stroke-width:1.6}
svg path.dot{stroke-width:5;stroke-linecap:round}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--dim)}
@media print{figure,tr,.verdict,h3{break-inside:avoid}h3{break-after:avoid}}
@media(max-width:40rem){.checklist thead{display:none}.checklist tr{display:flex;flex-wrap:wrap;
gap:0 .6rem;padding:.2rem 0 .2rem 1.5rem;border-bottom:1px solid var(--line)}
.checklist td{border:0;padding:0}.checklist td:empty{display:none}
.checklist td:first-child{width:.9rem;margin-left:-1.5rem}
.checklist td:nth-child(2){flex:1 0 calc(100% - 6.5rem)}
.checklist td:nth-child(3){min-width:5.5rem}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class RunPage(NamedTuple):
    """The part of the page on one run; `order` sorts the worst first."""

    order: tuple[int, str]
    row: str
    section: str
    curve: ComparedCurve | None


def html_report(runs: Iterable[Run], now: float, *, with_settings: bool = False) -> str:
    """The page on these runs, of which each is only looked at in its turn.

    `now` in unix seconds decides which runs are still live.
    """
    pages = []
    for number, run in enumerate(runs):
        view = make_run_view(run, None, run_status(run, now))
        pages.append(_run_page(run, view, f"run-{number}", with_settings=with_settings))
    pages.sort(key=lambda page: page.order)
    shown, title = pages[:MAX_RUNS], "ppo-top report"
    body = [f"<h1>{title}</h1>"] if len(pages) > 1 else []
    if len(pages) > 1:
        left = f" · the worst {len(shown)} are shown" if len(shown) < len(pages) else ""
        body.append(f'<p class="dim">{plural(len(pages), "run")}{left}</p>')
        heads = ("", "run", "verdict", "state", "step", "finding")
        body.append(_table(heads, [page.row for page in shown]))
        body.append(compared_chart([page.curve for page in shown if page.curve is not None]))
    body += [page.section for page in shown]
    body.append(f'<p class="dim">Written by ppo-top {__version__}.</p>')
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body>{''.join(body)}</body></html>\n"
    )


def _text(words: str) -> str:
    """Text from a log, which may hold anything."""
    return escape(clean(without_secrets(words)))


def _name(words: str) -> str:
    """The name of a run, which may look like a long random word."""
    return escape(clean(words))


def _run_page(run: Run, view: RunView, anchor: str, *, with_settings: bool) -> RunPage:
    state = view.state.value + (f" ({view.state_text})" if view.state_text else "")
    worst = view.open_findings[0].finding.title if view.open_findings else ""
    progress, status = view.progress, view.headline_status
    step = steps(progress.step, progress.total, progress.axis)
    row = (
        f'<tr><td class="{status.value}">{MARKS[status]}</td>'
        f'<td><a href="#{anchor}">{_name(view.name)}</a></td><td>{_text(view.marked_words)}</td>'
        f'<td>{_text(view.state.value)}</td><td class="number">{step}</td>'
        f"<td>{_text(worst)}</td></tr>"
    )
    known = step if progress.axis is not Axis.STEP else f"step {step}"
    facts = [view.trainer, state, known, *filter(None, [progress.rows])]
    parts = [
        f'<h2 id="{anchor}">{_name(view.name)}</h2>',
        f'<p class="facts">{_text(" · ".join(facts))}</p>',
        _verdict(run, view, status),
        _checklist(view.checklist),
        _charts(view),
        "<h3>Findings</h3>" if view.open_findings else "",
        *map(_finding, view.open_findings),
        _resolved(view.cleared_findings, progress.axis),
        _settings(view.config) if with_settings else "",
    ]
    order = (-view.verdict.rank, view.name)
    return RunPage(order, row, f"<section>{''.join(parts)}</section>", compared_curve(run))


def _verdict(run: Run, view: RunView, status: Status) -> str:
    """What is wrong, what it has cost, its cause, the chain, what to try first."""
    words, headline = view.verdict_words.capitalize(), view.headline
    says_it = headline.startswith(words) or headline == view.reservation
    words = _text(headline if says_it else f"{words}: {headline}")
    explained = explain_verdict(view, run.findings)
    lines = [f'<p class="title">{MARKS[status]} {words}</p>']
    if explained is not None:
        lines.append(f"<p>{_text(explained.worst.message)}</p>")
        word, _, step = explained.worst.when.partition(" ")
        pairs = [(word or "since", f"{step} · {explained.worst.cost}")]
        pairs += [("why", "; or ".join(explained.causes))] * bool(explained.causes)
        pairs += [("chain", " → ".join(explained.chain))] * bool(explained.chain)
        lines += [_pairs(pairs), _numbered(explained.remedies[:3])]
    return f'<div class="verdict {status.value}">{"".join(lines)}</div>'


def _finding(opened: OpenFinding) -> str:
    finding, status = opened.finding, opened.severity.status
    since = f", {opened.since}" if opened.since else ""
    pairs = [("evidence", line) for line in opened.evidence]
    pairs += [("why", line) for line in finding.causes]
    pairs += [("source", finding.source)] * bool(finding.source)
    return (
        f'<div class="finding {status.value}"><p class="title">{MARKS[status]} '
        f"{_text(finding.title)} [{_text(finding.rule)}]{since}</p>"
        f"<p>{_text(opened.message)}</p>{_pairs(pairs)}{_numbered(finding.remedies)}</div>"
    )


def _resolved(findings: Sequence[Finding], axis: Axis) -> str:
    rows = [
        f'<tr><td class="{each.severity.status.value}">{MARKS[each.severity.status]}</td>'
        f'<td>{_text(each.title)}</td><td class="number">{steps(each.since.step, axis=axis)}</td>'
        f'<td class="number">{count(each.cleared.step) if each.cleared else ""}</td>'
        f"<td>{_text(each.message)}</td></tr>"
        for each in findings
        if each.severity > Severity.INFO
    ]
    table = _table(("", "finding", "from", "to", ""), rows)
    return f"<details><summary>Resolved ({len(rows)})</summary>{table}</details>" if rows else ""


def _checklist(rows: Sequence[CheckRow]) -> str:
    """Those that the screen lists, too; the others on demand."""
    shown = rows_on_screen(rows)
    known = {row.concept for row in shown}
    others = [row for row in in_order_of_need(rows) if row.concept not in known]
    more = f"<details><summary>Other values ({len(others)})</summary>{_values(others)}</details>"
    return f"<h3>Crucial values</h3>{_values(shown)}{more if others else ''}"


def _values(rows: Sequence[CheckRow]) -> str:
    cells = [
        f'<tr><td class="{row.status.value}">{MARKS[row.status]}</td><td>{_text(row.label)}</td>'
        f'<td class="number">{_text(row.text)}</td><td>{_text(healthy_text(row.healthy))}</td>'
        f'<td class="dim">{_text(row.extreme)}</td><td class="dim">{_text(row.note)}</td></tr>'
        for row in rows
    ]
    heads = ("", "metric", "now", "healthy", "extreme", "")
    return f'<div class="checklist">{_table(heads, cells)}</div>'


def _charts(view: RunView) -> str:
    crucial = {row.concept for row in view.checklist if row.is_crucial}

    def rank(drawn: PanelTrack) -> tuple[int, bool]:
        trouble = drawn.status.rank if drawn.status.is_trouble else 0
        return -trouble, drawn.track.concept not in crucial

    tracks, figures = view.charted_tracks, []
    for drawn in sorted(tracks, key=rank)[:MAX_CHARTS]:
        chart = svg_chart(drawn, view.timeline, view.row or 0)
        mark = f'<span class="{drawn.status.value}">{MARKS[drawn.status]}</span>'
        newest = format_metric_value(drawn.newest_value, drawn.fmt)
        best = f"{newest} · best {drawn.best.value:.4g}" if drawn.best is not None else newest
        caption = f"<span>{mark} {_text(drawn.label)}</span>"
        caption += f'<span class="dim">{_text(best)}</span>'
        if chart:
            figures.append(f"<figure><figcaption>{caption}</figcaption>{chart}</figure>")
    if not figures:
        return ""
    left = len(tracks) - MAX_CHARTS
    more = f'<p class="dim">{plural(left, "more metric")} not drawn</p>' if left > 0 else ""
    return f'<h3>Curves</h3><div class="charts">{"".join(figures)}</div>{more}'


def _settings(config: Mapping[str, ConfigValue]) -> str:
    shown = [(name, value) for name, value in sorted(config.items()) if not is_secret(name, value)]
    rows = [
        f"<tr><td>{_text(name)}</td><td>{_text(str(value))}</td></tr>"
        for name, value in shown[:MAX_SETTINGS]
    ]
    table = _table(("setting", "value"), rows)
    return f"<details><summary>Settings ({len(rows)})</summary>{table}</details>" if rows else ""


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Names with what is said of each; a name that comes again stands once."""
    rows = []
    for name, said in groupby(pairs, key=itemgetter(0)):
        lines = [f"<dd>{_text(words)}</dd>" for _, words in said if words]
        rows += [f"<dt>{escape(name)}</dt>", *lines] if lines else []
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


def _numbered(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<p>Try:</p><ol>{items}</ol>" if lines else ""


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    classes = [' class="number"' if each in _NUMBERS else "" for each in heads]
    head = "".join(
        f"<th{kind}>{escape(each)}</th>" for kind, each in zip(classes, heads, strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
