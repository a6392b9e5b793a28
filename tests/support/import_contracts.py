"""A contract for import-linter: the formats of a package do not know each other.

import-linter's own contract needs a list of modules for that, because its wildcards cannot exclude
the modules that formats share. With this one a new format needs no change.
"""

from __future__ import annotations

import grimp
from importlinter import Contract, ContractCheck, fields, output


class StrangersContract(Contract):
    """No module of `package` may import one of its formats, directly or from a shared module.

    A format is every child of the package that is not listed under `shared`. The package's own
    `__init__` finds formats by name and imports none.
    """

    type_name = "strangers"

    package = fields.StringField()
    shared = fields.SetField(subfield=fields.StringField())

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Check every import inside the package."""
        package, shared = str(self.package), set(self.shared)  # type: ignore[call-overload]
        modules = graph.find_descendants(package) | {package}
        formats = {
            name for name in graph.find_children(package) if name.rpartition(".")[2] not in shared
        }
        broken = sorted(
            (importer, imported)
            for importer in modules
            for imported in graph.find_modules_directly_imported_by(importer)
            if any(_within(imported, each) and not _within(importer, each) for each in formats)
        )
        return ContractCheck(kept=bool(formats) and not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each forbidden import."""
        for importer, imported in check.metadata["broken"]:
            output.print_error(f"{importer} imports {imported}")
        if not check.metadata["broken"]:
            output.print_error(f"{self.package} holds no formats")


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
