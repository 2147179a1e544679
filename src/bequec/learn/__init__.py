"""learn: answers to memberships."""

from bequec.learn.bequec import BeQuec
from bequec.learn.matching import match_clusters

__all__ = ["BeQuec", "match_clusters"]
