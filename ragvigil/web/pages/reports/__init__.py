"""The pages of the reports: releases, evaluations, slices, users, the week."""
