from helpers.small_classifiers import karate, small, trained, two_rings

__all__ = ["karate", "small", "trained", "two_rings"]
