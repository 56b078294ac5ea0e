"""The paper's studies, one module each: which evaluations and trainings, in which order. The tables are report's."""
