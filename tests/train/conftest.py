from helpers.small_classifiers import karate

__all__ = ["karate"]
