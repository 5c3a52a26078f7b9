"""The network against plain PyTorch: encoder, light convolutions, attention and decoder, output, generation."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

from orchard.neural.seq2set.batches import Batch  # noqa: E402
from orchard.neural.seq2set.decoder import Decoder  # noqa: E402
from orchard.neural.seq2set.encoder import KERNELS, REACH, Encoder, LightConvolutions  # noqa: E402
from orchard.neural.seq2set.network import Network, Sizes  # noqa: E402
from orchard.neural.seq2set.output import Output  # noqa: E402

LENGTHS = (7, 3, 5, 1)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def texts(lengths=LENGTHS, n_words=30) -> Batch:
    words = torch.zeros((max(lengths), len(lengths)), dtype=torch.int64)
    for number, length in enumerate(lengths):
        words[:length, number] = torch.randint(2, n_words, (length,))
    return Batch(words, torch.tensor(lengths))


def test_the_encoder_gives_what_packed_sequences_give():
    encoder, batch = Encoder(torch.randn(30, 4), 6, 2, 0.0), texts()
    plain = nn.GRU(4, 6, num_layers=2, bidirectional=True)
    for layer, (ahead, back) in enumerate(zip(encoder.forwards, encoder.backwards, strict=True)):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(plain, f"{name}_l{layer}").data = getattr(ahead, f"{name}_l0").data
            getattr(plain, f"{name}_l{layer}_reverse").data = getattr(back, f"{name}_l0").data
    packed = nn.utils.rnn.pack_padded_sequence(encoder.embedding(batch.words), batch.lengths, enforce_sorted=False)
    states, ends = plain(packed)
    states, _ = nn.utils.rnn.pad_packed_sequence(states)
    found, first = encoder(batch)
    torch.testing.assert_close(found, states.transpose(0, 1))
    torch.testing.assert_close(first, torch.tanh(encoder.bridge(torch.cat([ends[-2], ends[-1]], dim=1))))


@pytest.mark.parametrize("heads", [1, 2, 6])
def test_light_convolutions_are_what_wu_et_al_print(heads):
    """LightConv(X, W, i, c) = Σ_j softmax(W_⌈cH/d⌉)_j · X_{i+j, c}, with a loop over everything."""
    convolutions = LightConvolutions(6, stride=3, heads=heads)
    for weights in convolutions.weights:
        nn.init.normal_(weights)
    states, lengths = torch.randn(2, REACH + 8, 6), torch.tensor([REACH + 8, REACH + 2])
    signal = states.double()
    for layer, (kernel, weights) in enumerate(zip(KERNELS, convolutions.weights, strict=True)):
        stride = 3 if layer == 3 else 1
        weights = torch.softmax(weights.double(), dim=1)
        n_out = (signal.shape[1] - kernel) // stride + 1
        out = torch.zeros((2, n_out, 6), dtype=torch.float64)
        for place in range(n_out):
            for channel in range(6):
                window = signal[:, place * stride : place * stride + kernel, channel]
                out[:, place, channel] = (window * weights[channel % heads]).sum(1)
        signal = out.relu()
    found, counts = convolutions(states, lengths)
    torch.testing.assert_close(found, signal.float())
    assert counts.tolist() == [3, 1]


def test_short_texts_have_one_state_of_the_convolutions():
    convolutions = LightConvolutions(4, stride=3)
    states = torch.randn(3, 9, 4)
    found, counts = convolutions(states, torch.tensor([9, 4, 1]))
    assert found.shape == (3, 1, 4)
    assert counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("stride", [None, 3], ids=["without", "with convolutions"])
def test_nothing_depends_on_what_a_text_is_padded_with(stride):
    """Alone, or beside a text that is longer: the same features, whatever words stand in the padding."""
    sizes = Sizes(hidden=6, stride=stride, dropout=0.0)
    network = Network(torch.randn(30, 4), torch.randn(9, 5), sizes).double()
    lengths = (REACH + 7, REACH, 9)
    batch = texts(lengths)
    batch.words[-1, 2] = 17  # behind the end of the last text
    together, _ = network.student_forced(batch, 4)
    for number, length in enumerate(lengths):
        alone = Batch(batch.words[:length, number : number + 1], torch.tensor([length]))
        torch.testing.assert_close(network.student_forced(alone, 4)[0][:, 0], together[:, number])


def plain_recurrence(decoder, memories, state, given, choose, kept):
    """`Decoder.forward` by `Decoder.step`, with the gradients that autograd finds."""
    features, written = [], given[:, 0]
    for step in range(given.shape[1]):
        embedded = decoder.embedding(written)
        one, state = decoder.step(memories, state, embedded if kept is None else embedded * kept[step])
        features.append(one)
        chosen = choose(step, one.detach()) if choose else None
        if step + 1 < given.shape[1]:
            written = given[:, step + 1] if chosen is None else chosen
    return torch.stack(features)


@pytest.mark.parametrize("student", [False, True], ids=["teacher forced", "student forced"])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("n_memories", [1, 2])
def test_the_recurrence_has_the_values_and_gradients_of_its_steps(student, dropout, n_memories):
    decoder = Decoder(torch.randn(8, 3), 4, n_memories, dropout).double()
    nn.init.normal_(decoder.v)
    inputs = [torch.randn(3, length, 8, dtype=torch.float64, requires_grad=True) for length in (6, 2)[:n_memories]]
    lengths = (torch.tensor([6, 2, 4]), torch.tensor([2, 1, 1]))
    state = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    given, W = torch.randint(8, (3, 5)), torch.randn(decoder.n_features, 8, dtype=torch.float64)
    weight = torch.randn(5, 3, decoder.n_features, dtype=torch.float64)
    kept = decoder._kept(3, 5)
    decoder._kept = lambda batch, n_steps: kept
    choose = (lambda step, features: (features @ W).argmax(1)) if student else None
    leaves = [*decoder.parameters(), *inputs, state]
    results = []
    for fast in (True, False):
        memories = [decoder.memory(one, length) for one, length in zip(inputs, lengths, strict=False)]
        if fast:
            features = decoder(memories, state, given, 5, choose)
        else:
            features = plain_recurrence(decoder, memories, state, given, choose, kept)
        results.append((features, torch.autograd.grad((features * weight).sum(), leaves)))
    torch.testing.assert_close(results[0][0], results[1][0])
    for found, expected in zip(results[0][1], results[1][1], strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("bottleneck", [None, 3])
@pytest.mark.parametrize("with_means", [False, True])
@pytest.mark.parametrize("with_logits", [False, True])
def test_the_output_has_the_values_and_gradients_of_a_softmax(bottleneck, with_means, with_logits):
    output, features = Output(4, 7, bottleneck).double(), torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    asked, E = torch.randint(7, (5, 3)), torch.randn(7, 2, dtype=torch.float64)
    weight, weight_of_means = torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)
    leaves = [*output.parameters(), features]
    logits = output(features).detach() if with_logits else None
    log_p, means = output.ask(features, asked, E if with_means else None, logits)
    plain = torch.log_softmax(output(features), dim=1)
    torch.testing.assert_close(log_p, plain.gather(1, asked))
    total, expected = (log_p * weight).sum(), (plain.gather(1, asked) * weight).sum()
    if with_means:
        torch.testing.assert_close(means, plain.exp() @ E)
        total, expected = total + (means * weight_of_means).sum(), expected + (plain.exp() @ E * weight_of_means).sum()
    gradients = torch.autograd.grad(total, leaves), torch.autograd.grad(expected, leaves)
    for found, wanted in zip(*gradients, strict=True):
        torch.testing.assert_close(found, wanted)


def test_log_probabilities_do_not_underflow():
    """log(softmax) would be −∞ here."""
    output = Output(1, 2, None)
    output.last.weight.data[:], output.last.bias.data[:] = torch.tensor([[300.0], [0.0]]), 0
    log_p, _ = output.ask(torch.ones(1, 1), torch.tensor([[1]]))
    assert log_p.item() == -300


def network_that_writes(logits_of_step, n_labels=3):
    """A network whose output does not depend on the text: its logits at every step are these."""
    network = Network(torch.randn(30, 2), torch.randn(n_labels + 2, 2), Sizes(hidden=2, dropout=0.0)).eval()
    steps = iter(torch.tensor(logits_of_step, dtype=torch.float32))
    network.output.forward = lambda features: next(steps).expand(len(features), -1)
    return network


def test_generation_takes_the_best_label_of_every_step():
    network = network_that_writes([[0, 3, 1, 2], [0, 0, 0, 9], [0, 2, 1, 0], [7, 0, 0, 0]])
    written = network.generate(texts((2, 1)), 4, ends=False, repeats=True)
    assert written.tolist() == [[1, 3, 1, 0]] * 2  # 3 is ∅


def test_the_first_empty_label_ends_a_sequence():
    network = network_that_writes([[0, 3, 1, 2], [0, 0, 0, 9], [0, 2, 1, 0], [7, 0, 0, 0]])
    assert network.generate(texts((2,)), 4, ends=True, repeats=True).tolist() == [[1, 3, 3, 3]]


def test_no_label_is_written_twice_under_the_mask_but_empty_ones_are():
    network = network_that_writes([[0, 3, 1, 2], [0, 4, 1, 2], [0, 4, 1, 3], [0, 4, 1, 0]])
    assert network.generate(texts((2,)), 4, ends=False, repeats=False).tolist() == [[1, 3, 3, 2]]


def test_student_forcing_follows_its_own_choices():
    """Features are those of teacher forcing along the labels that generation writes."""
    network = Network(torch.randn(30, 4), torch.randn(9, 5), Sizes(hidden=6, dropout=0.0)).eval()
    batch = texts()
    features, logits = network.student_forced(batch, 5)
    written = network.generate(batch, 5, ends=False, repeats=True)
    torch.testing.assert_close(logits.argmax(2).t(), written)
    forced = network.teacher_forced(Batch(batch.words, batch.lengths, written[:, :4], torch.full((4,), 4)))
    torch.testing.assert_close(features, forced)
    torch.testing.assert_close(network.output(features), logits)


def test_sgm_mixes_the_last_label_with_the_mean_of_all():
    network = Network(torch.randn(9, 2), torch.randn(5, 3), Sizes(hidden=2, dropout=0.0, global_embedding=True)).eval()
    E, logits, labels = network.label_embeddings, torch.randn(2, 4), torch.tensor([1, 3])
    mean = torch.softmax(logits / 0.1, dim=1) @ E
    mixture = network.mixture
    H = torch.sigmoid(mixture.of_label(E[labels]) + mixture.of_mean(mean))
    torch.testing.assert_close(network._embedded(labels, logits), H * E[labels] + (1 - H) * mean)
    one = network._embedded(torch.tensor([1]), None)
    torch.testing.assert_close(one, mixture(E[[1]], E.mean(0)[None]))


def test_sgm_averages_no_label_that_has_been_written():
    """Steps by hand: labels that were written before have no part in the mean that the next step is given."""
    network = Network(torch.randn(9, 2), torch.randn(6, 3), Sizes(hidden=2, dropout=0.0, global_embedding=True)).eval()
    with torch.no_grad():
        network.output.last.bias.copy_(torch.tensor([0.0, 2.0, 0.5, 1.0, -3.0]))  # it would write 1 for ever
        batch, n_steps = texts((2,), n_words=9), 4
        (memories, state), E = network.read(batch), network.label_embeddings
        last, mean, wanted = network.start, E.mean(0), []
        for _ in range(n_steps):
            start = network.mixture(network.decoder.embedding.weight[last][None], mean[None])
            features, state = network.decoder.step(memories, state, start)
            logits = network.output(features)[0]
            left = [label for label in range(5) if label not in wanted]
            last = max(left, key=logits.__getitem__)
            mean = torch.softmax(logits[left] / 0.1, dim=0) @ E[left]
            wanted.append(last)
        given_means = []
        mix = network.mixture.forward
        network.mixture.forward = lambda one, mean: given_means.append(mean) or mix(one, mean)
        assert network.generate(batch, n_steps + 1, ends=False, repeats=False)[0, :n_steps].tolist() == wanted
    torch.testing.assert_close(given_means[n_steps][0], mean)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_words_read_backwards_are_those_of_the_text(lengths, seed):
    from orchard.neural.seq2set.encoder import _reordered, _reverse

    torch.manual_seed(seed)
    states, counts = torch.randn(max(lengths), len(lengths), 2), torch.tensor(lengths)
    reversed_states = _reordered(states, _reverse(counts, max(lengths)))
    for number, length in enumerate(lengths):
        np.testing.assert_array_equal(reversed_states[:length, number], states[:length, number].flip(0))
        np.testing.assert_array_equal(reversed_states[length:, number], states[length:, number])
