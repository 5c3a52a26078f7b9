"""The inner loops of training and search, over several labels at once: W is [feature, lane], one lane per label.

A sample's row is read once for all lanes. numba would keep the lanes' sums in memory and test them one by one; LLVM
vectors keep them in registers. The lanes never mix and each is summed in the order of the row's entries with fused
multiply-adds, so the result is the same to the bit whatever the machine's vectors are.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

# The rows of a block's state, `width` floats each.
DOT, STEP, BIAS, HIGHEST, LOWEST, CEILING, MOVING = range(7)
N_STATE_ROWS = 7


def _data_pointer(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


class _Lanes:
    """Emits the code that both loops share."""

    def __init__(self, context, builder, signature, arguments):
        self.builder = builder
        self.width = signature.args[0].literal_value
        matrix, indices, values, begin, end, lanes = arguments[1:]
        types_of = signature.args[1:]
        self.vector = ir.VectorType(ir.FloatType(), self.width)
        self.matrix = builder.bitcast(_data_pointer(context, builder, types_of[0], matrix), self.vector.as_pointer())
        self.indices = _data_pointer(context, builder, types_of[1], indices)
        self.values = _data_pointer(context, builder, types_of[2], values)
        lanes = _data_pointer(context, builder, types_of[5], lanes)
        self.lanes = builder.bitcast(lanes, self.vector.as_pointer())
        self.begin, self.end = begin, end
        self.fma = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(self.vector, [self.vector] * 3),
            f"llvm.fma.v{self.width}f32",
        )

    def row(self, entry):
        """The address of W's row for an entry, and the entry's value in every lane."""
        builder = self.builder
        feature = builder.zext(builder.load(builder.gep(self.indices, [entry])), entry.type)
        pointer = builder.gep(self.matrix, [feature])
        value = builder.load(builder.gep(self.values, [entry]))
        return pointer, _splat(builder, value, self.width)


class _Row:
    """Emits what the kernels of one row of W share; their arguments begin with width, W, row."""

    def __init__(self, context, builder, signature, arguments):
        self.builder, self.width = builder, signature.args[0].literal_value
        self.vector = ir.VectorType(ir.FloatType(), self.width)
        self.zeros = ir.Constant(self.vector, [0.0] * self.width)
        matrix = _data_pointer(context, builder, signature.args[1], arguments[1])
        self.pointer = builder.gep(builder.bitcast(matrix, self.vector.as_pointer()), [arguments[2]])

    def function(self, name, n_arguments):
        kind = ir.FunctionType(self.vector, [self.vector] * n_arguments)
        return cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.v{self.width}f32")


def _load(builder, pointer):
    """The lanes at an address, which need not be a multiple of their size."""
    value = builder.load(pointer)
    value.align = 4
    return value


def _store(builder, value, pointer):
    builder.store(value, pointer).align = 4


def _is_set(builder, word, width):
    """Lane b says whether bit b of a 32-bit word is set."""
    kind = ir.VectorType(ir.IntType(32), width)
    masked = builder.and_(_splat(builder, word, width), ir.Constant(kind, [1 << b for b in range(width)]))
    return builder.icmp_unsigned("!=", masked, ir.Constant(kind, [0] * width))


def _splat(builder, value, width):
    """The same value in every lane."""
    kind, word = ir.VectorType(value.type, width), ir.IntType(32)
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(word, 0))
    zeros = ir.Constant(ir.VectorType(word, width), [0] * width)
    return builder.shuffle_vector(single, ir.Constant(kind, ir.Undefined), zeros)


def _refuse_variable(width):
    if not isinstance(width, types.IntegerLiteral):
        raise TypingError("the number of lanes must be a constant")


def _signature(result, width, W, indices, values, begin, end, lanes):
    _refuse_variable(width)
    return result(width, W, indices, values, types.intp, types.intp, lanes)


def _emit_dot(n_sums):
    """A dot product with `n_sums` partial sums; the entries are dealt to them in turn, what is left to the first."""

    def emit(context, builder, signature, arguments):
        code = _Lanes(context, builder, signature, arguments)
        index = code.begin.type
        sums = [cgutils.alloca_once_value(builder, ir.Constant(code.vector, [0.0] * code.width)) for _ in range(n_sums)]

        def add(entry, number):
            pointer, value = code.row(entry)
            total = builder.call(code.fma, [value, _load(builder, pointer), builder.load(sums[number])])
            builder.store(total, sums[number])

        n_left = builder.srem(builder.sub(code.end, code.begin), ir.Constant(index, n_sums))
        dealt = builder.sub(code.end, n_left)
        one, step = ir.Constant(index, 1), ir.Constant(index, n_sums)
        with cgutils.for_range_slice(builder, code.begin, dealt, step, inc=True) as (entry, _):
            for number in range(n_sums):
                add(builder.add(entry, ir.Constant(index, number)), number)
        with cgutils.for_range_slice(builder, dealt, code.end, one, inc=True) as (entry, _):
            add(entry, 0)
        total = builder.load(sums[0])
        for partial in sums[1:]:
            total = builder.fadd(total, builder.load(partial))
        _store(builder, total, code.lanes)
        return context.get_dummy_value()

    return emit


@intrinsic(prefer_literal=True)
def lanes_dot(typing_context, width, W, indices, values, begin, end, lanes):
    """lanes[b] = Σ values[e] · W[indices[e], b] over the entries begin … end − 1, for the `width` lanes b.

    W : float32 (n, width).  indices : int32.  values : float32.  lanes : float32 (width,).
    Two sums, of the even and the odd entries: one alone would wait for each multiply-add to end.
    """
    return _signature(types.void, width, W, indices, values, begin, end, lanes), _emit_dot(2)


@intrinsic(prefer_literal=True)
def lanes_dot_in_order(typing_context, width, W, indices, values, begin, end, lanes):
    """`lanes_dot` with one sum, so that leaving out entries whose weights are zero changes nothing, to the bit."""
    return _signature(types.void, width, W, indices, values, begin, end, lanes), _emit_dot(1)


@intrinsic
def fma(typing_context, a, b, c):
    """a·b + c of float32, rounded once: what the lanes do, for one number."""

    def emit(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), emit


@intrinsic(prefer_literal=True)
def lanes_add(typing_context, width, W, indices, values, begin, end, lanes):
    """W[indices[e], b] += values[e] · lanes[b] over the entries begin … end − 1, for the `width` lanes b.

    W : float32 (n, width).  indices : int32.  values : float32.  lanes : float32 (width,).
    """

    def emit(context, builder, signature, arguments):
        code = _Lanes(context, builder, signature, arguments)
        step = _load(builder, code.lanes)
        with cgutils.for_range_slice(builder, code.begin, code.end, ir.Constant(code.begin.type, 1)) as (entry, _):
            pointer, value = code.row(entry)
            _store(builder, builder.call(code.fma, [value, step, _load(builder, pointer)]), pointer)
        return context.get_dummy_value()

    return _signature(types.void, width, W, indices, values, begin, end, lanes), emit


@intrinsic(prefer_literal=True)
def lanes_hinge_step(typing_context, width, state, alpha, at, positives, members, bias, diagonals, inverses):
    """One coordinate step of every lane for one sample: L2-regularised squared hinge, dual (Hsieh et al. 2008, Alg. 1).

    state : float32 (N_STATE_ROWS · width,).  DOT holds w·x without the bias; STEP receives y·Δα, which the caller adds
        to W; BIAS is the bias' weight, updated here; HIGHEST and LOWEST widen to the projected gradient; a variable
        at zero whose gradient exceeds CEILING can be left out of the next pass; lanes whose MOVING is 0 stay (else 1).
    alpha : float32, the dual variables of the sample in alpha[at : at + width].
    positives, members : uint32, bit b is set where the sample is a positive of lane b, and where lane b has it at all.
    diagonals, inverses : pairs of float32, (for positives, for negatives): 1/(2C) plus the share of x that is in no
        other row, and 1 / Q_ii.
    Returns uint64: bit b is set if lane b must see the sample again, bit 32 + b if lane b moved.
    """

    def emit(context, builder, signature, arguments):
        width = signature.args[0].literal_value
        vector = ir.VectorType(ir.FloatType(), width)
        word, wide = ir.IntType(32), ir.IntType(64)
        rows = builder.bitcast(_data_pointer(context, builder, signature.args[1], arguments[1]), vector.as_pointer())
        alphas = builder.gep(_data_pointer(context, builder, signature.args[2], arguments[2]), [arguments[3]])
        alphas = builder.bitcast(alphas, vector.as_pointer())

        def row(number):
            return builder.gep(rows, [ir.Constant(word, number)])

        def load(pointer):
            return _load(builder, pointer)

        def store(value, pointer):
            _store(builder, value, pointer)

        def constant(value):
            return ir.Constant(vector, [value] * width)

        def splat(value):
            return _splat(builder, value, width)

        def bits(flags):
            return builder.zext(builder.bitcast(flags, ir.IntType(width)), wide)

        fma_name = f"llvm.fma.v{width}f32"
        fma_type = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(builder.module, fma_type, fma_name)

        positive, member = (_is_set(builder, bits_of_sample, width) for bits_of_sample in arguments[4:6])
        y = builder.select(positive, constant(1.0), constant(-1.0))
        diagonal, inverse = (
            builder.select(positive, *(splat(builder.extract_value(pair, side)) for side in (0, 1)))
            for pair in arguments[7:9]
        )
        bias, bias_weight = splat(arguments[6]), load(row(BIAS))
        margin = builder.fmul(y, builder.call(fma, [bias, bias_weight, load(row(DOT))]))
        a = load(alphas)
        gradient = builder.call(fma, [a, diagonal, builder.fsub(margin, constant(1.0))])

        at_zero = builder.fcmp_ordered("==", a, constant(0.0))
        uphill = builder.and_(at_zero, builder.fcmp_ordered(">", gradient, constant(0.0)))
        projected = builder.select(uphill, constant(0.0), gradient)
        highest, lowest = load(row(HIGHEST)), load(row(LOWEST))
        higher = builder.and_(member, builder.fcmp_ordered(">", projected, highest))
        store(builder.select(higher, projected, highest), row(HIGHEST))
        lower = builder.and_(member, builder.fcmp_ordered("<", projected, lowest))
        store(builder.select(lower, projected, lowest), row(LOWEST))
        shrunk = builder.and_(at_zero, builder.fcmp_ordered(">", gradient, load(row(CEILING))))
        needed = builder.and_(member, builder.not_(shrunk))

        new = builder.fsub(a, builder.fmul(gradient, inverse))
        new = builder.select(builder.fcmp_ordered(">", new, constant(0.0)), new, constant(0.0))
        delta = builder.fmul(builder.fsub(new, a), load(row(MOVING)))
        delta = builder.select(member, delta, constant(0.0))
        store(builder.fadd(a, delta), alphas)
        step = builder.fmul(y, delta)
        store(step, row(STEP))
        store(builder.call(fma, [bias, step, bias_weight]), row(BIAS))

        moved = bits(builder.fcmp_unordered("!=", delta, constant(0.0)))
        return builder.or_(bits(needed), builder.shl(moved, ir.Constant(wide, 32)))

    _refuse_variable(width)
    pair = types.UniTuple(types.float32, 2)
    word = types.uint32
    return types.uint64(width, state, alpha, types.intp, word, word, types.float32, pair, pair), emit


@intrinsic(prefer_literal=True)
def lanes_above(typing_context, width, W, row, threshold):
    """uint32: bit b is set if |W[row, b]| is at least `threshold` and not 0.  W : float32 (n, width)."""

    def emit(context, builder, signature, arguments):
        code = _Row(context, builder, signature, arguments)
        value = _load(builder, code.pointer)
        size = builder.call(code.function("fabs", 1), [value])
        is_large = builder.fcmp_ordered(">=", size, _splat(builder, arguments[3], code.width))
        is_large = builder.and_(is_large, builder.fcmp_unordered("!=", value, code.zeros))
        return builder.zext(builder.bitcast(is_large, ir.IntType(code.width)), ir.IntType(32))

    _refuse_variable(width)
    return types.uint32(width, W, types.intp, types.float32), emit


@intrinsic(prefer_literal=True)
def lanes_clear(typing_context, width, W, row, lanes):
    """W[row, b] = 0 for the lanes b whose bit is set in `lanes`, uint32.  W : float32 (n, width)."""

    def emit(context, builder, signature, arguments):
        code = _Row(context, builder, signature, arguments)
        is_cleared = _is_set(builder, arguments[3], code.width)
        _store(builder, builder.select(is_cleared, code.zeros, _load(builder, code.pointer)), code.pointer)
        return context.get_dummy_value()

    _refuse_variable(width)
    return types.void(width, W, types.intp, types.uint32), emit


def _dot_packed(width, words, rows, values, lanes, goes_on):
    """The signature and the code of `lanes_dot_packed` and of `lanes_dot_block`, which moves the rows on."""

    def emit(context, builder, signature, arguments):
        width = signature.args[0].literal_value
        word, vector = ir.IntType(32), ir.VectorType(ir.FloatType(), width)
        flags, zeros = ir.VectorType(ir.IntType(1), width), ir.Constant(vector, [0.0] * width)
        words, rows, values = (
            _data_pointer(context, builder, signature.args[place], arguments[place]) for place in (1, 2, 3)
        )
        lanes = _data_pointer(context, builder, signature.args[5], arguments[5])
        fma_type = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(builder.module, fma_type, f"llvm.fma.v{width}f32")
        expand_type = ir.FunctionType(vector, [words.type, flags, vector])
        expand = cgutils.get_or_insert_function(builder.module, expand_type, f"llvm.masked.expandload.v{width}f32")
        total, one = cgutils.alloca_once_value(builder, zeros), ir.Constant(word, 1)
        with cgutils.for_range(builder, arguments[4]) as loop:
            row = builder.gep(rows, [loop.index])
            begin = builder.gep(words, [builder.zext(builder.load(row), loop.index.type)])
            bits = builder.load(builder.bitcast(begin, word.as_pointer()))
            is_set = builder.bitcast(builder.trunc(bits, ir.IntType(width)), flags)
            weights = builder.call(expand, [builder.gep(begin, [one]), is_set, zeros])
            value = _splat(builder, builder.load(builder.gep(values, [loop.index])), width)
            builder.store(builder.call(fma, [value, weights, builder.load(total)]), total)
            if goes_on:
                builder.store(builder.add(builder.load(row), builder.add(builder.ctpop(bits), one)), row)
        _store(builder, builder.load(total), builder.bitcast(lanes, vector.as_pointer()))
        return context.get_dummy_value()

    _refuse_variable(width)
    return types.void(width, words, rows, values, types.intp, lanes), emit


@intrinsic(prefer_literal=True)
def lanes_dot_packed(typing_context, width, words, rows, values, n, lanes):
    """lanes[b] = Σ values[i] · (weight b of row i), i below n; a row is a word of bits, and the weights of those set.

    words : float32.  rows : uint32, where each row begins in `words`.  values : float32.  lanes : float32 (width,).
    One sum, as in `lanes_dot_in_order`. Processors with AVX-512 have an instruction that gives the weights to their
    lanes; for others LLVM writes a test for every lane.
    """
    return _dot_packed(width, words, rows, values, lanes, goes_on=False)


@intrinsic(prefer_literal=True)
def lanes_dot_block(typing_context, width, words, rows, values, n, lanes):
    """`lanes_dot_packed` for rows with several words of bits, each before its weights: `rows` move on to the next."""
    return _dot_packed(width, words, rows, values, lanes, goes_on=True)


@intrinsic
def count_ones(typing_context, word):
    """How many bits of an integer are set."""

    def emit(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return word(word), emit


@intrinsic
def lowest_one(typing_context, word):
    """The place of the lowest bit that is set in an integer that is not 0."""

    def emit(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return word(word), emit


@intrinsic
def prefetch(typing_context, array, at):
    """Tell the processor that array[at] will be read soon."""

    def emit(context, builder, signature, arguments):
        pointer = builder.gep(_data_pointer(context, builder, signature.args[0], arguments[0]), [arguments[1]])
        byte = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        read, keep, data = (ir.Constant(word, number) for number in (0, 3, 1))
        builder.call(function, [builder.bitcast(pointer, byte), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), emit


@intrinsic
def address_of(typing_context, array):
    """The address of an array's first element, so that rows can be laid on cache lines."""

    def emit(context, builder, signature, arguments):
        pointer = _data_pointer(context, builder, signature.args[0], arguments[0])
        return builder.ptrtoint(pointer, ir.IntType(64))

    return types.int64(array), emit
