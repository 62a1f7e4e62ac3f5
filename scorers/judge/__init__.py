"""Rubrics judged by a language model: sampling, questions, verdicts and scores."""
