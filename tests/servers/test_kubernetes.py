"""With the schema of a real Kubernetes: the shipped pod is one that it takes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.servers import library

pytestmark = pytest.mark.servers

kubernetes_validate, yaml = library("kubernetes_validate"), library("yaml")

SIDECAR = DEMO_LOGS_FOLDER.parent / "deploy" / "kubernetes" / "sidecar.yaml"
OLDEST = "1.29"
"""Its containers that start first and end last are what the pod is built on."""


@pytest.fixture
def pod() -> dict[str, Any]:
    """The shipped pod; what else is in the file is the Prometheus operator's."""
    found = yaml.safe_load_all(SIDECAR.read_text())
    (pod,) = [each for each in found if each["kind"] == "Pod"]
    return dict(pod)


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version()])
def test_the_pod_is_valid(pod: dict[str, Any], version: str) -> None:
    """Strictly: no word that Kubernetes does not know."""
    kubernetes_validate.validate(pod, version, strict=True)


def test_a_mistake_in_the_pod_would_be_found(pod: dict[str, Any]) -> None:
    """The schema reaches into the container that is ours."""
    wrong = copy.deepcopy(pod)
    wrong["spec"]["initContainers"][0]["startupProb"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="startupProb"):
        kubernetes_validate.validate(wrong, OLDEST, strict=True)
