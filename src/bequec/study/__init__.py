"""study: the folder that a journey lives in."""

from bequec.ask.add_to_record import Added
from bequec.study.folder import Dealt, Study

__all__ = ["Added", "Dealt", "Study"]
