"""All tables of the paper, in its order, with what we found when running them."""

from bequec.paper import printed
from bequec.paper.coauthors import CoauthorsTable, DataSetsTable, GroupsTable
from bequec.paper.dogs import DogsTable, ErringDogsTable
from bequec.paper.synthetic import MembershipTable, SeparabilityTable, SubspaceTable, by_size
from bequec.paper.table import Table

_TABLES = (
    SeparabilityTable(
        "1",
        "G(ε, ν) for K = 3, ε = 0.1",
        "With ε/√2 as in the paper's appendix; its 8.4e-4 is 8.46e-4, cut off.",
        printed=printed.G,
    ),
    SubspaceTable(
        "2",
        "Subspace distance, K = 5, L = 10, random pattern, balanced clusters",
        "The ideal case is exact to rounding. In the binary case neither the public code (0.433 at N = 2000) nor ours "
        "reaches the printed figures with Algorithm 1.",
        printed=printed.SUBSPACE,
    ),
    MembershipTable(
        "3",
        "Memberships, K = 5, L = 10, η = 0.1, ν = (⅕, ⅕, ⅕, ⅕, ⅕)",
        "SPACL and the two refinements are not in the paper's table. The public code of BeQuec does not reach the "
        "printed figures either (0.079 at N = 2000, 0.035 at 4000). GeoNMF and SPACL see the whole window of two "
        "neighbouring groups where BeQuec's stitching sees half of it: that, not the method, is their lead over "
        "Algorithm 1, and the subspace refinement takes it back. In this and the other tables of planted graphs "
        "CD-BNMF and CD-MVSI run as in the authors' program: CD-BNMF makes 19 updates of a graph whose diagonal is "
        "two, CD-MVSI takes the four nodes of most yes as landmarks. The public code's CD-BNMF reaches 0.55 at N = "
        "2000 and 0.30 at 4000; why ours lies between them at both is not explained. Left to settle and without that "
        "diagonal CD-BNMF is far better.",
        printed=by_size(printed.FOUR, printed.BALANCED),
    ),
    MembershipTable(
        "4",
        "Memberships, K = 5, L = 10, η = 0.1, ν = (⅕, ⅕, ⅕, ⅕, 1)",
        "Algorithm 1 as published reaches 0.79 at N = 2000, not 0.43; the refinements are far below either. GeoNMF "
        "does better than in the public code from N = 4000 on (there 0.30, 0.31 and 0.77).",
        printed=by_size(printed.FOUR, printed.UNBALANCED),
        concentration=(0.2, 0.2, 0.2, 0.2, 1.0),
    ),
    DogsTable(
        "5",
        "Dogs: accuracy in %, NMI and seconds",
        "Under the paper's names stand the variants that its experiments ran (largest Laplacian eigenvectors, last of "
        "20 k-means, K − 1 random landmarks for CD-MVSI); the same methods done right are below. Convex-Opt solves the "
        "text's program, on the asked pairs only; the published program is the zero-filled one. At its optimum ten "
        "photos have no part in the low-rank matrix, because they got too few yes for the penalty; without giving them "
        "to the cluster with the largest share of yes it reaches 98.8 %. For SPACL "
        "97.1 % is printed because the published experiment leaves block (1, 1) at zero, although it was asked.",
        printed={
            (row, "", metric): value
            for row, values in printed.DOGS.items()
            for metric, value in zip(("ACC", "NMI", "seconds"), values, strict=True)
        },
    ),
    ErringDogsTable(
        "6",
        "Dogs with more wrong answers: accuracy in %, NMI and the error rate that was reached",
        "Whole pairs are flipped. The published experiment flips only one triangle of the matrix, and BeQuec and its "
        "rivals read different ones, so that they do not see the same share of errors; the table as published "
        "repeats that. Algorithm 1 does not lead here; at 20 % its refinements do.",
        "Only entries below the diagonal are flipped. BeQuec reads the blocks below it; its rivals read those above, "
        "where between groups only people's own errors are left, and so they do better than with whole pairs; "
        "Convex-Opt takes a yes from either. The printed ranking does not come out in this way, either.",
        printed={
            (row, f"{rate} %", metric): values[2 * at + part]
            for row, values in printed.DOGS_ERRING.items()
            for at, rate in enumerate((15, 20))
            for part, metric in enumerate(("ACC", "NMI"))
        },
    ),
    DataSetsTable(
        "7",
        "Co-author networks",
        "The published filter counts only neighbours of a larger index; with it the sizes agree exactly.",
        printed={
            (row, "", metric): float(value)
            for row, values in printed.DATA_SETS.items()
            for metric, value in zip(("N", "K"), values, strict=True)
        },
    ),
    CoauthorsTable(
        "8",
        "Co-author networks: averaged SRC and seconds, L = 10",
        "DBLP-i is four networks without an edge between them. Dealing the K columns out to the largest connected "
        "components, without any clustering, scores a higher SRC than any method: the column 'components'. SRC also "
        "rewards exact ties at zero. So MSE, RE, ACC and the SRC of nodes with an observed edge stand beside it; "
        "inside a component nobody recovers much. The paper prints for BeQuec up to twice the SRC of GeoNMF and SPACL; "
        "here these two are level with it. There is no column of the posterior: it visits every asked pair, up "
        "to 48 million with 16 clusters, where these graphs have three edges a node.",
        printed={
            (row, column, metric): values[at][part]
            for row, values in printed.COAUTHORS.items()
            for at, column in enumerate(printed.FIVE)
            for part, metric in enumerate(("SRC", "seconds"))
        },
    ),
    GroupsTable(
        "9",
        "Accuracy in % against the number of groups",
        "The paper's figures are of MAG2, which is not distributed with bequec; where its files are missing the same "
        "protocol (labels by k-means of the true memberships) runs on DBLP-5, and no printed figure stands beside it. "
        "The largest of its true clusters has 13.0 % of the nodes: from 50 groups on, with less than one observed edge "
        "a node, hardly any cell says more than a single cluster would.",
        printed={
            (row, f"MAG2, L = {groups}", "ACC"): value
            for row, values in printed.BY_GROUPS.items()
            for groups, value in zip(printed.NUMBERS_OF_GROUPS, values, strict=True)
        },
    ),
    MembershipTable(
        "10",
        "Memberships, η = 0.1, ν = (⅕, ½, 1, ½, ⅕)",
        "Here GeoNMF and SPACL are behind Algorithm 1 at N = 2000 and ahead of it from 8000 on.",
        printed=by_size(printed.FOUR, printed.SUPPLEMENT_1),
        concentration=(0.2, 0.5, 1.0, 0.5, 0.2),
    ),
    MembershipTable(
        "11",
        "Memberships, η = 0.2, ν = (⅕, ⅓, ½, ⅕, 1)",
        "The paper sets BeQuec in bold at N = 4000, where its own MSE of GeoNMF is lower.",
        printed=by_size(printed.FOUR, printed.SUPPLEMENT_2),
        concentration=(0.2, 1 / 3, 0.5, 0.2, 1.0),
        between=0.2,
    ),
    MembershipTable(
        "12",
        "Memberships, η = 0.3, ν = (⅕, ⅓, ½, ⅕, 1)",
        "The paper sets BeQuec in bold at N = 4000, where its own MSE of GeoNMF is lower.",
        printed=by_size(printed.FOUR, printed.SUPPLEMENT_3),
        concentration=(0.2, 1 / 3, 0.5, 0.2, 1.0),
        between=0.3,
    ),
)

TABLES: dict[str, Table] = {table.name: table for table in _TABLES}
