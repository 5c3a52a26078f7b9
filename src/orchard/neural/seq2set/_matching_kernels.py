"""Assignment problems of a whole batch at once."""

import numpy as np

from orchard.jit import njit


@njit(cache=True, nogil=True)
def assign_batch(costs, n_rows, n_columns, column_of_row):
    """For every sample the columns that its rows take, each another one, at the least cost.

    costs : float64 (B, rows, columns), finite; of sample b the first n_rows[b] rows and n_columns[b] columns count, and
        there are at least as many columns.  column_of_row : int64 (B, rows), filled; −1 beyond the last row.
    Shortest augmenting paths with potentials (Jonker and Volgenant, 1987), O(rows² · columns) a sample.
    """
    most = costs.shape[2]
    row_potential, column_potential = np.empty(costs.shape[1] + 1), np.empty(most + 1)
    shortest, before, visited = np.empty(most + 1), np.empty(most + 1, np.int64), np.empty(most + 1, np.bool_)
    row_of_column = np.empty(most + 1, np.int64)  # 0 for a free column; rows and columns count from 1
    for sample in range(len(costs)):
        cost, rows, columns = costs[sample], n_rows[sample], n_columns[sample]
        column_of_row[sample] = -1
        row_potential[: rows + 1] = 0
        column_potential[: columns + 1] = 0
        row_of_column[: columns + 1] = 0
        for row in range(1, rows + 1):
            row_of_column[0] = row
            column = 0
            shortest[: columns + 1] = np.inf
            visited[: columns + 1] = False
            while row_of_column[column] != 0:
                visited[column] = True
                here, nearest, step = row_of_column[column], 0, np.inf
                for other in range(1, columns + 1):
                    if visited[other]:
                        continue
                    way = cost[here - 1, other - 1] - row_potential[here] - column_potential[other]
                    if way < shortest[other]:
                        shortest[other] = way
                        before[other] = column
                    if shortest[other] < step:
                        step = shortest[other]
                        nearest = other
                for other in range(columns + 1):
                    if visited[other]:
                        row_potential[row_of_column[other]] += step
                        column_potential[other] -= step
                    else:
                        shortest[other] -= step
                column = nearest
            while column != 0:
                row_of_column[column] = row_of_column[before[column]]
                column = before[column]
        for column in range(1, columns + 1):
            if row_of_column[column] != 0:
                column_of_row[sample, row_of_column[column] - 1] = column - 1
