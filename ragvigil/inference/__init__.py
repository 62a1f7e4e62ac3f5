"""The model process: vectors of texts and scores of pairs, computed in one child process."""
