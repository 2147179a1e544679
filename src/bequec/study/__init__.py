"""study: the folder that a journey lives in."""

from bequec.study.folder import Added, Dealt, Study

__all__ = ["Added", "Dealt", "Study"]
