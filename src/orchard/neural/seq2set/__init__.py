"""OTSeq2Set and its baselines: networks that read a text and write down its labels, one after the other.

words, ragged, batches  texts and labels as numbers, and in batches
encoder, decoder      Eq. 2 to 8;  output : Eq. 9, 10
matching, transport   Eq. 11, 12 and Eq. 14 to 16, for a whole batch at once;  per_sample : one sample after the other
objectives            Eq. 13 and 17
estimators            Seq2Seq, MLC2Seq, SGM and OTSeq2Set, the way scikit-learn has estimators
"""
