"""The four papers, as a reader knows them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    key: str
    short: str
    title: str
    authors: str
    venue: str

    @property
    def page(self) -> str:
        return f"{self.key}.html"


PAPERS = (
    Paper(
        "eagle",
        "EAGLE",
        "Extreme Multi-label Classification from Aggregated Labels",
        "Yanyao Shen, Hsiang-fu Yu, Sujay Sanghavi, Inderjit Dhillon",
        "ICML 2020",
    ),
    Paper(
        "disentangle",
        "Label disentanglement",
        "Label Disentanglement in Partition-based Extreme Multilabel Classification",
        "Xuanqing Liu, Wei-Cheng Chang, Hsiang-Fu Yu, Cho-Jui Hsieh, Inderjit Dhillon",
        "NeurIPS 2021",
    ),
    Paper(
        "labeltrees",
        "Label trees",
        "Enabling Efficiency-Precision Trade-offs for Label Trees in Extreme Classification",
        "Tavor Z. Baharav, Daniel L. Jiang, Kedarnath Kolluri, Sujay Sanghavi, Inderjit S. Dhillon",
        "CIKM 2021",
    ),
    Paper(
        "otseq2set",
        "OTSeq2Set",
        "OTSeq2Set: An Optimal Transport Enhanced Sequence-to-Set Model for Extreme Multi-label Text Classification",
        "Jie Cao, Yin Zhang",
        "EMNLP 2022",
    ),
)
