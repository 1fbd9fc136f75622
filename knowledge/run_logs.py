"""Where a run writes what happened."""

from dataclasses import dataclass
from typing import Self

from core.database import Database
from knowledge.completeness import CompletenessLog
from knowledge.failures import FailureLog
from knowledge.forgotten import ForgottenLog
from knowledge.holds import HoldLog
from knowledge.runs import RunLog


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLogs:
    """Everything a run keeps besides the documents."""

    runs: RunLog
    failures: FailureLog
    holds: HoldLog
    completeness: CompletenessLog
    forgotten: ForgottenLog

    @classmethod
    def of(cls, database: Database) -> Self:
        """Open the logs of a database."""
        return cls(
            runs=RunLog(database),
            failures=FailureLog(database),
            holds=HoldLog(database),
            completeness=CompletenessLog(database),
            forgotten=ForgottenLog(database),
        )
