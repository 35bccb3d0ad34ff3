//! HLO of regions, as text.

/// The median of three neighbors, twice it, and a half: a window.
pub(crate) const MEDIAN: &str = "HloModule median\n
%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

ENTRY %main (x: f32[18]) -> f32[16] {
  %x = f32[18]{0} parameter(0)
  %s0 = f32[16]{0} slice(%x), slice={[0:16]}
  %s1 = f32[16]{0} slice(%x), slice={[1:17]}
  %s2 = f32[16]{0} slice(%x), slice={[2:18]}
  %r0 = f32[1,16]{1,0} reshape(%s0)
  %r1 = f32[1,16]{1,0} reshape(%s1)
  %r2 = f32[1,16]{1,0} reshape(%s2)
  %all = f32[3,16]{1,0} concatenate(%r0, %r1, %r2), dimensions={0}
  %sorted = f32[3,16]{1,0} sort(%all), dimensions={0}, to_apply=%less
  %mid = f32[1,16]{1,0} slice(%sorted), slice={[1:2], [0:16]}
  %flat = f32[16]{0} bitcast(%mid)
  %twice = f32[16]{0} add(%flat, %flat)
  %half = f32[] constant(0.5)
  %halves = f32[16]{0} broadcast(%half), dimensions={}
  ROOT %y = f32[16]{0} multiply(%twice, %halves)
}
";

/// Everything that only moves elements, sums, products, indices from data, and integers.
pub(crate) const MIXED: &str = "HloModule mixed\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%fused (p: f32[4,6]) -> f32[6,4] {
  %p = f32[4,6]{1,0} parameter(0)
  %sin = f32[4,6]{1,0} sine(%p)
  ROOT %t = f32[6,4]{1,0} transpose(%sin), dimensions={1,0}
}

ENTRY %main (x: f32[4,6], i: s32[3,1], k: u8[5]) -> (f32[6], f32[3,4], f32[6,6], s32[5], f32[4,3]) {
  %x = f32[4,6]{1,0} parameter(0)
  %i = s32[3,1]{1,0} parameter(1)
  %k = u8[5]{0} parameter(2)
  %t = f32[6,4]{1,0} fusion(%x), kind=kLoop, calls=%fused
  %zero = f32[] constant(0)
  %sum = f32[6]{0} reduce(%t, %zero), dimensions={1}, to_apply=%add
  %rows = f32[3,4]{1,0} gather(%t, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  %product = f32[6,6]{1,0} dot(%t, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %wide = s32[5]{0} convert(%k)
  %three = s32[] constant(3)
  %threes = s32[5]{0} broadcast(%three), dimensions={}
  %shifted = s32[5]{0} shift-left(%wide, %threes)
  %count = s32[5]{0} iota(), iota_dimension=0
  %divided = s32[5]{0} divide(%shifted, %count)
  %padded = f32[8,6]{1,0} pad(%t, %zero), padding=1_1x1_1
  %windows = f32[4,3]{1,0} reduce-window(%padded, %zero), window={size=3x2 stride=2x2 pad=1_0x0_0}, to_apply=%add
  ROOT %out = (f32[6]{0}, f32[3,4]{1,0}, f32[6,6]{1,0}, s32[5]{0}, f32[4,3]{1,0}) tuple(%sum, %rows, %product, %divided, %windows)
}
";

/// Sums, products, comparisons and choices of single precision over three neighbors.
pub(crate) const STENCIL: &str = "HloModule stencil\n
ENTRY %main (x: f32[34]) -> f32[32] {
  %x = f32[34]{0} parameter(0)
  %left = f32[32]{0} slice(%x), slice={[0:32]}
  %here = f32[32]{0} slice(%x), slice={[1:33]}
  %right = f32[32]{0} slice(%x), slice={[2:34]}
  %sum = f32[32]{0} add(%left, %right)
  %quarter = f32[] constant(0.25)
  %quarters = f32[32]{0} broadcast(%quarter), dimensions={}
  %scaled = f32[32]{0} multiply(%sum, %quarters)
  %square = f32[32]{0} multiply(%here, %here)
  %less = f32[32]{0} subtract(%scaled, %square)
  %most = f32[32]{0} maximum(%less, %here)
  %size = f32[32]{0} abs(%left)
  %is_more = pred[32]{0} compare(%most, %size), direction=GE
  %turned = f32[32]{0} negate(%right)
  %least = f32[32]{0} minimum(%turned, %most)
  ROOT %y = f32[32]{0} select(%is_more, %most, %least)
}
";

/// Five trips over a line of numbers; of the state one array is the one before, and one stays.
pub(crate) const RELAXED: &str = "HloModule relaxed\n
%body (p: (s32[], f32[16], f32[16], f32[16])) -> (s32[], f32[16], f32[16], f32[16]) {
  %p = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[16]{0} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %pull = f32[16]{0} get-tuple-element(%p), index=3
  %left = f32[14]{0} slice(%x), slice={[0:14]}
  %right = f32[14]{0} slice(%x), slice={[2:16]}
  %sum = f32[14]{0} add(%left, %right)
  %half = f32[] constant(0.5)
  %halves = f32[14]{0} broadcast(%half), dimensions={}
  %mean = f32[14]{0} multiply(%sum, %halves)
  %zero = f32[] constant(0)
  %padded = f32[16]{0} pad(%mean, %zero), padding=1_1
  %moved = f32[16]{0} subtract(%padded, %pull)
  ROOT %out = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) tuple(%next, %moved, %x, %pull)
}

%condition (p: (s32[], f32[16], f32[16], f32[16])) -> pred[] {
  %p = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %five = s32[] constant(5)
  ROOT %less = pred[] compare(%i, %five), direction=LT
}

ENTRY %main (x: f32[16], pull: f32[16]) -> f32[16] {
  %x = f32[16]{0} parameter(0)
  %pull = f32[16]{0} parameter(1)
  %zero = s32[] constant(0)
  %begin = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) tuple(%zero, %x, %x, %pull)
  %loop = (s32[], f32[16]{0}, f32[16]{0}, f32[16]{0}) while(%begin), condition=%condition, body=%body
  %last = f32[16]{0} get-tuple-element(%loop), index=1
  %before = f32[16]{0} get-tuple-element(%loop), index=2
  ROOT %y = f32[16]{0} add(%last, %before)
}
";

/// A loop in a loop, which goes on as often as a number of the outer one's state says, and writes where its counter says.
pub(crate) const NESTED: &str = "HloModule nested\n
%inner_body (p: (s32[], f32[], f32[8])) -> (s32[], f32[], f32[8]) {
  %p = (s32[], f32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %two = s32[] constant(2)
  %next = s32[] add(%i, %two)
  %sum = f32[] get-tuple-element(%p), index=1
  %x = f32[8]{0} get-tuple-element(%p), index=2
  %one = f32[1]{0} dynamic-slice(%x, %i), dynamic_slice_sizes={1}
  %scalar = f32[] reshape(%one)
  %more = f32[] add(%sum, %scalar)
  %square = f32[1]{0} multiply(%one, %one)
  %put = f32[8]{0} dynamic-update-slice(%x, %square, %i)
  ROOT %out = (s32[], f32[], f32[8]{0}) tuple(%next, %more, %put)
}

%inner_condition (p: (s32[], f32[], f32[8])) -> pred[] {
  %p = (s32[], f32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %eight = s32[] constant(8)
  ROOT %less = pred[] compare(%i, %eight), direction=LT
}

%body (p: (s32[], f32[8], s32[], s32[])) -> (s32[], f32[8], s32[], s32[]) {
  %p = (s32[], f32[8]{0}, s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %first = s32[] get-tuple-element(%p), index=2
  %last = s32[] get-tuple-element(%p), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %none = f32[] constant(0)
  %begin = (s32[], f32[], f32[8]{0}) tuple(%first, %none, %x)
  %loop = (s32[], f32[], f32[8]{0}) while(%begin), condition=%inner_condition, body=%inner_body
  %sum = f32[] get-tuple-element(%loop), index=1
  %put = f32[8]{0} get-tuple-element(%loop), index=2
  %sums = f32[8]{0} broadcast(%sum), dimensions={}
  %eighth = f32[] constant(0.125)
  %eighths = f32[8]{0} broadcast(%eighth), dimensions={}
  %part = f32[8]{0} multiply(%sums, %eighths)
  %y = f32[8]{0} subtract(%put, %part)
  ROOT %out = (s32[], f32[8]{0}, s32[], s32[]) tuple(%next, %y, %first, %last)
}

%condition (p: (s32[], f32[8], s32[], s32[])) -> pred[] {
  %p = (s32[], f32[8]{0}, s32[], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %last = s32[] get-tuple-element(%p), index=3
  ROOT %less = pred[] compare(%i, %last), direction=LT
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %one = s32[] constant(1)
  %three = s32[] constant(3)
  %begin = (s32[], f32[8]{0}, s32[], s32[]) tuple(%zero, %x, %one, %three)
  %loop = (s32[], f32[8]{0}, s32[], s32[]) while(%begin), condition=%condition, body=%body
  ROOT %y = f32[8]{0} get-tuple-element(%loop), index=1
}
";

/// Sums so far, each put into its place of an array that nothing else reads.
pub(crate) const SUMS: &str = "HloModule sums\n
%body (p: (s32[], f32[], f32[6], f32[6])) -> (s32[], f32[], f32[6], f32[6]) {
  %p = (s32[], f32[], f32[6]{0}, f32[6]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %sum = f32[] get-tuple-element(%p), index=1
  %all = f32[6]{0} get-tuple-element(%p), index=2
  %x = f32[6]{0} get-tuple-element(%p), index=3
  %part = f32[1]{0} dynamic-slice(%x, %i), dynamic_slice_sizes={1}
  %number = f32[] reshape(%part)
  %more = f32[] add(%sum, %number)
  %square = f32[] multiply(%more, %more)
  %line = f32[1]{0} reshape(%square)
  %put = f32[6]{0} dynamic-update-slice(%all, %line, %i)
  ROOT %out = (s32[], f32[], f32[6]{0}, f32[6]{0}) tuple(%next, %more, %put, %x)
}

%condition (p: (s32[], f32[], f32[6], f32[6])) -> pred[] {
  %p = (s32[], f32[], f32[6]{0}, f32[6]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %six = s32[] constant(6)
  ROOT %less = pred[] compare(%i, %six), direction=LT
}

ENTRY %main (x: f32[6]) -> (f32[6], f32[]) {
  %x = f32[6]{0} parameter(0)
  %zero = s32[] constant(0)
  %none = f32[] constant(0)
  %nones = f32[6]{0} broadcast(%none), dimensions={}
  %begin = (s32[], f32[], f32[6]{0}, f32[6]{0}) tuple(%zero, %none, %nones, %x)
  %loop = (s32[], f32[], f32[6]{0}, f32[6]{0}) while(%begin), condition=%condition, body=%body
  %all = f32[6]{0} get-tuple-element(%loop), index=2
  %sum = f32[] get-tuple-element(%loop), index=1
  ROOT %out = (f32[6]{0}, f32[]) tuple(%all, %sum)
}
";

/// Sums of rows, whole windows, and a loop that adds to places of its state.
pub(crate) const SCATTERED: &str = "HloModule scattered\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%second (d: f32[], e: f32[]) -> f32[] {
  %d = f32[] parameter(0)
  ROOT %e = f32[] parameter(1)
}

%body (p: (s32[], f32[9], s32[6,1], f32[6])) -> (s32[], f32[9], s32[6,1], f32[6]) {
  %p = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%n, %one)
  %sums = f32[9]{0} get-tuple-element(%p), index=1
  %at = s32[6,1]{1,0} get-tuple-element(%p), index=2
  %more = f32[6]{0} get-tuple-element(%p), index=3
  %put = f32[9]{0} scatter(%sums, %at, %more), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  ROOT %out = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) tuple(%next, %put, %at, %more)
}

%condition (p: (s32[], f32[9], s32[6,1], f32[6])) -> pred[] {
  %p = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %three = s32[] constant(3)
  ROOT %less = pred[] compare(%n, %three), direction=LT
}

ENTRY %main (x: f32[5,3], i: s32[7,1], u: f32[7,3], j: s32[2,4], w: f32[2,4,2], h: s32[6,1], v: f32[6]) -> (f32[5,3], f32[5,3], f32[9]) {
  %x = f32[5,3]{1,0} parameter(0)
  %i = s32[7,1]{1,0} parameter(1)
  %u = f32[7,3]{1,0} parameter(2)
  %j = s32[2,4]{1,0} parameter(3)
  %w = f32[2,4,2]{2,1,0} parameter(4)
  %h = s32[6,1]{1,0} parameter(5)
  %v = f32[6]{0} parameter(6)
  %rows = f32[5,3]{1,0} scatter(%x, %i, %u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  %windows = f32[5,3]{1,0} scatter(%x, %j, %w), update_window_dims={0,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=%second
  %zero = s32[] constant(0)
  %none = f32[] constant(0)
  %nones = f32[9]{0} broadcast(%none), dimensions={}
  %begin = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) tuple(%zero, %nones, %h, %v)
  %loop = (s32[], f32[9]{0}, s32[6,1]{1,0}, f32[6]{0}) while(%begin), condition=%condition, body=%body
  %sums = f32[9]{0} get-tuple-element(%loop), index=1
  ROOT %out = (f32[5,3]{1,0}, f32[5,3]{1,0}, f32[9]{0}) tuple(%rows, %windows, %sums)
}
";

/// Places that are given: one twice, one outside; a window that is partly outside.
pub(crate) const PLACED: &str = "HloModule placed\n
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%second (d: f32[], e: f32[]) -> f32[] {
  %d = f32[] parameter(0)
  ROOT %e = f32[] parameter(1)
}

ENTRY %main (z: f32[4]) -> (f32[3], f32[4]) {
  %z = f32[4]{0} parameter(0)
  %x = f32[3]{0} constant({10, 20, 30})
  %i = s32[4,1]{1,0} constant({ {0}, {2}, {0}, {9} })
  %u = f32[4]{0} constant({1, 2, 4, 8})
  %sums = f32[3]{0} scatter(%x, %i, %u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  %none = f32[4]{0} subtract(%z, %z)
  %j = s32[2,1]{1,0} constant({ {1}, {3} })
  %w = f32[2,2]{1,0} constant({ {1, 2}, {3, 4} })
  %put = f32[4]{0} scatter(%none, %j, %w), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%second
  ROOT %out = (f32[3]{0}, f32[4]{0}) tuple(%sums, %put)
}
";

/// Lines of numbers that are sorted downwards, too long for a network.
pub(crate) const SORTED: &str = "HloModule sorted\n
%more (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %gt = pred[] compare(%a, %b), direction=GT
}

ENTRY %main (x: f32[3,70]) -> f32[70,3] {
  %x = f32[3,70]{1,0} parameter(0)
  %y = f32[3,70]{1,0} negate(%x)
  %sorted = f32[3,70]{1,0} sort(%y), dimensions={1}, to_apply=%more
  ROOT %turned = f32[70,3]{1,0} transpose(%sorted), dimensions={1,0}
}
";

/// One of three ways, by a number; and one of two, by a truth.
pub(crate) const CHOSEN: &str = "HloModule chosen\n
%twice (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %b = f32[4]{0} add(%a, %a)
}

%less (c: f32[4]) -> f32[4] {
  %c = f32[4]{0} parameter(0)
  ROOT %d = f32[4]{0} negate(%c)
}

%same (e: f32[4]) -> f32[4] {
  ROOT %e = f32[4]{0} parameter(0)
}

ENTRY %main (x: f32[4], n: s32[], p: pred[]) -> (f32[4], f32[4]) {
  %x = f32[4]{0} parameter(0)
  %n = s32[] parameter(1)
  %p = pred[] parameter(2)
  %one = f32[4]{0} conditional(%n, %x, %x, %x), branch_computations={%twice, %less, %same}
  %two = f32[4]{0} conditional(%p, %x, %x), true_computation=%twice, false_computation=%less
  ROOT %out = (f32[4]{0}, f32[4]{0}) tuple(%one, %two)
}
";

/// Real numbers by their bits, as generators of random numbers make them.
pub(crate) const DRAWN: &str = "HloModule drawn\n
ENTRY %main (n: u32[8]) -> f32[8] {
  %n = u32[8]{0} parameter(0)
  %nine = u32[] constant(9)
  %nines = u32[8]{0} broadcast(%nine), dimensions={}
  %part = u32[8]{0} shift-right-logical(%n, %nines)
  %one = u32[] constant(1065353216)
  %ones = u32[8]{0} broadcast(%one), dimensions={}
  %bits = u32[8]{0} or(%part, %ones)
  ROOT %real = f32[8]{0} bitcast-convert(%bits)
}
";
