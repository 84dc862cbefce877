//! Instructions as bytes.

use super::instruction_list::{Kind, Relation};
use super::registers::{Act, Allocated};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};
use odeum_core::Isa;

/// The instructions of one precision and one instruction set.
pub(super) struct Target {
    first: Register,
    registers: usize,
    /// Bytes of a pack and of a number.
    pack: usize,
    word: usize,
    load: Code,
    store: Code,
    stream: Code,
    broadcast: Code,
    copy: Code,
    add: Code,
    sub: Code,
    mul: Code,
    div: Code,
    sqrt: Code,
    xor: Code,
    and: Code,
    without: Code,
    or: Code,
    min: Code,
    max: Code,
    floor: Code,
    compare: Code,
    /// Makes a vector of the bits that comparisons give, where these are no vectors.
    spread: Option<Code>,
    /// Of a b + c, a b − c and c − a b onto a.
    onto: [Code; 3],
    /// The same onto c.
    onto_sum: [Code; 3],
}

impl Target {
    /// `None` where there are no such instructions.
    pub(super) fn new(isa: Isa, word: usize) -> Option<Target> {
        match (isa, word) {
            (Isa::Avx512, 4) => Some(AVX512_SINGLE),
            (Isa::Avx512, 8) => Some(AVX512_DOUBLE),
            (Isa::Avx2, 4) => Some(AVX2_SINGLE),
            (Isa::Avx2, 8) => Some(AVX2_DOUBLE),
            _ => None,
        }
    }

    pub(super) fn registers(&self) -> usize {
        self.registers
    }
}

const AVX512_SINGLE: Target = Target {
    first: Register::ZMM0,
    registers: 32,
    pack: 64,
    word: 4,
    load: Code::EVEX_Vmovups_zmm_k1z_zmmm512,
    store: Code::EVEX_Vmovups_zmmm512_k1z_zmm,
    stream: Code::EVEX_Vmovntps_m512_zmm,
    broadcast: Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
    copy: Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
    add: Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
    sub: Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
    mul: Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
    div: Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
    sqrt: Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
    xor: Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32,
    and: Code::EVEX_Vandps_zmm_k1z_zmm_zmmm512b32,
    without: Code::EVEX_Vandnps_zmm_k1z_zmm_zmmm512b32,
    or: Code::EVEX_Vorps_zmm_k1z_zmm_zmmm512b32,
    min: Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
    max: Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
    floor: Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
    compare: Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
    spread: Some(Code::EVEX_Vpmovm2d_zmm_kr),
    onto: [
        Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
    onto_sum: [
        Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    ],
};

const AVX512_DOUBLE: Target = Target {
    first: Register::ZMM0,
    registers: 32,
    pack: 64,
    word: 8,
    load: Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
    store: Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
    stream: Code::EVEX_Vmovntpd_m512_zmm,
    broadcast: Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    copy: Code::EVEX_Vmovapd_zmm_k1z_zmmm512,
    add: Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
    sub: Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
    mul: Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
    div: Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
    sqrt: Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
    xor: Code::EVEX_Vxorpd_zmm_k1z_zmm_zmmm512b64,
    and: Code::EVEX_Vandpd_zmm_k1z_zmm_zmmm512b64,
    without: Code::EVEX_Vandnpd_zmm_k1z_zmm_zmmm512b64,
    or: Code::EVEX_Vorpd_zmm_k1z_zmm_zmmm512b64,
    min: Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
    max: Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
    floor: Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
    compare: Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
    spread: Some(Code::EVEX_Vpmovm2q_zmm_kr),
    onto: [
        Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
    onto_sum: [
        Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
    ],
};

const AVX2_SINGLE: Target = Target {
    first: Register::YMM0,
    registers: 16,
    pack: 32,
    word: 4,
    load: Code::VEX_Vmovups_ymm_ymmm256,
    store: Code::VEX_Vmovups_ymmm256_ymm,
    stream: Code::VEX_Vmovntps_m256_ymm,
    broadcast: Code::VEX_Vbroadcastss_ymm_m32,
    copy: Code::VEX_Vmovaps_ymm_ymmm256,
    add: Code::VEX_Vaddps_ymm_ymm_ymmm256,
    sub: Code::VEX_Vsubps_ymm_ymm_ymmm256,
    mul: Code::VEX_Vmulps_ymm_ymm_ymmm256,
    div: Code::VEX_Vdivps_ymm_ymm_ymmm256,
    sqrt: Code::VEX_Vsqrtps_ymm_ymmm256,
    xor: Code::VEX_Vxorps_ymm_ymm_ymmm256,
    and: Code::VEX_Vandps_ymm_ymm_ymmm256,
    without: Code::VEX_Vandnps_ymm_ymm_ymmm256,
    or: Code::VEX_Vorps_ymm_ymm_ymmm256,
    min: Code::VEX_Vminps_ymm_ymm_ymmm256,
    max: Code::VEX_Vmaxps_ymm_ymm_ymmm256,
    floor: Code::VEX_Vroundps_ymm_ymmm256_imm8,
    compare: Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
    spread: None,
    onto: [
        Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
    ],
    onto_sum: [
        Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
    ],
};

const AVX2_DOUBLE: Target = Target {
    first: Register::YMM0,
    registers: 16,
    pack: 32,
    word: 8,
    load: Code::VEX_Vmovupd_ymm_ymmm256,
    store: Code::VEX_Vmovupd_ymmm256_ymm,
    stream: Code::VEX_Vmovntpd_m256_ymm,
    broadcast: Code::VEX_Vbroadcastsd_ymm_m64,
    copy: Code::VEX_Vmovapd_ymm_ymmm256,
    add: Code::VEX_Vaddpd_ymm_ymm_ymmm256,
    sub: Code::VEX_Vsubpd_ymm_ymm_ymmm256,
    mul: Code::VEX_Vmulpd_ymm_ymm_ymmm256,
    div: Code::VEX_Vdivpd_ymm_ymm_ymmm256,
    sqrt: Code::VEX_Vsqrtpd_ymm_ymmm256,
    xor: Code::VEX_Vxorpd_ymm_ymm_ymmm256,
    and: Code::VEX_Vandpd_ymm_ymm_ymmm256,
    without: Code::VEX_Vandnpd_ymm_ymm_ymmm256,
    or: Code::VEX_Vorpd_ymm_ymm_ymmm256,
    min: Code::VEX_Vminpd_ymm_ymm_ymmm256,
    max: Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
    floor: Code::VEX_Vroundpd_ymm_ymmm256_imm8,
    compare: Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
    spread: None,
    onto: [
        Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
    ],
    onto_sum: [
        Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
    ],
};

/// The arguments, as the calling convention of System V passes them: the pointers to rows, the
/// numbers, the byte that is next, the one where the row ends, and the pack of checks.
const ROWS: Register = Register::RDI;
const SCALARS: Register = Register::RSI;
const AT: Register = Register::RDX;
const END: Register = Register::RCX;
const NON_FINITE: Register = Register::R8;

/// A pointer that has no register is loaded into this one.
const SPARE: Register = Register::RAX;

/// Registers for pointers; those from the fourth on belong to the caller, who gets them back.
const POINTERS: [Register; 9] = [
    Register::R9,
    Register::R10,
    Register::R11,
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];
const OURS: usize = 3;

/// The function `(rows, scalars, at, end, non_finite)`, where `rows` are those that it uses.
pub(super) fn encode(target: &Target, rows: &[usize], code: &Allocated) -> Option<Vec<u8>> {
    let rows = &rows[..rows.len().min(POINTERS.len())];
    let borrowed = &POINTERS[OURS.min(rows.len())..rows.len()];
    let mut writer = Writer { target, encoder: Encoder::new(64), at: 0, rows };
    for &register in borrowed {
        writer.put(Instruction::with1(Code::Push_r64, register).ok()?)?;
    }
    for (k, &row) in rows.iter().enumerate() {
        writer.pointer(POINTERS[k], row)?;
    }
    for &(scalar, register) in &code.kept {
        writer.act(&Act::Broadcast { to: register, scalar })?;
    }
    let [first, second] = code.checks;
    for register in [code.zero, second] {
        writer.act(&Act::Compute { kind: Kind::Xor, to: register, a: register, b: register })?;
    }
    let non_finite = MemoryOperand::with_base(NON_FINITE);
    writer.put(Instruction::with2(target.load, writer.vector(first), non_finite).ok()?)?;
    let begin = writer.at;
    for act in &code.acts {
        writer.act(act)?;
    }
    writer.put(Instruction::with2(Code::Add_rm64_imm32, AT, target.pack as i32).ok()?)?;
    writer.put(Instruction::with2(Code::Cmp_r64_rm64, AT, END).ok()?)?;
    writer.put(Instruction::with_branch(Code::Jb_rel32_64, begin).ok()?)?;
    writer.act(&Act::Compute { kind: Kind::Add, to: first, a: first, b: second })?;
    writer.put(Instruction::with2(target.store, non_finite, writer.vector(first)).ok()?)?;
    for &register in borrowed.iter().rev() {
        writer.put(Instruction::with1(Code::Pop_r64, register).ok()?)?;
    }
    writer.put(Instruction::with(Code::VEX_Vzeroupper))?;
    writer.put(Instruction::with(Code::Retnq))?;
    Some(writer.encoder.take_buffer())
}

struct Writer<'a> {
    target: &'a Target,
    encoder: Encoder,
    /// Bytes written.
    at: u64,
    /// Rows whose pointers have registers.
    rows: &'a [usize],
}

impl Writer<'_> {
    fn vector(&self, number: usize) -> Register {
        self.target.first + number as u32
    }

    fn put(&mut self, instruction: Instruction) -> Option<()> {
        self.at += self.encoder.encode(&instruction, self.at).ok()? as u64;
        Some(())
    }

    /// Loads the pointer to a row.
    fn pointer(&mut self, to: Register, row: usize) -> Option<()> {
        let from = MemoryOperand::with_base_displ(ROWS, 8 * row as i64);
        self.put(Instruction::with2(Code::Mov_r64_rm64, to, from).ok()?)
    }

    /// The pack of a row, or that so many packs on.
    fn pack(&mut self, row: usize, on: i8) -> Option<MemoryOperand> {
        let base = match self.rows.iter().position(|known| *known == row) {
            Some(k) => POINTERS[k],
            None => {
                self.pointer(SPARE, row)?;
                SPARE
            }
        };
        let bytes = self.target.pack as i64 * i64::from(on);
        Some(MemoryOperand::with_base_index_scale_displ_size(
            base,
            AT,
            1,
            bytes,
            u32::from(on != 0),
        ))
    }

    fn act(&mut self, act: &Act) -> Option<()> {
        let target = self.target;
        let v = |number: usize| target.first + number as u32;
        let instruction = match *act {
            Act::Load { to, row, on } => {
                let from = self.pack(row, on)?;
                Instruction::with2(target.load, v(to), from)
            }
            Act::Broadcast { to, scalar } => {
                let from = MemoryOperand::with_base_displ(SCALARS, (target.word * scalar) as i64);
                Instruction::with2(target.broadcast, v(to), from)
            }
            Act::Move { to, from } => Instruction::with2(target.copy, v(to), v(from)),
            Act::Compute { kind: Kind::Sqrt, to, a, .. } => {
                Instruction::with2(target.sqrt, v(to), v(a))
            }
            Act::Compute { kind: Kind::Floor, to, a, .. } => {
                Instruction::with3(target.floor, v(to), v(a), FLOOR)
            }
            Act::Compute { kind: Kind::Compare(relation), to, a, b } => {
                let how = predicate(relation);
                match target.spread {
                    None => Instruction::with4(target.compare, v(to), v(a), v(b), how),
                    Some(spread) => {
                        let bits = Register::K1;
                        self.put(Instruction::with4(target.compare, bits, v(a), v(b), how).ok()?)?;
                        Instruction::with2(spread, v(to), bits)
                    }
                }
            }
            Act::Compute { kind, to, a, b } => {
                let code = match kind {
                    Kind::Add => target.add,
                    Kind::Sub => target.sub,
                    Kind::Mul => target.mul,
                    Kind::Div => target.div,
                    Kind::Xor => target.xor,
                    Kind::And => target.and,
                    Kind::Without => target.without,
                    Kind::Or => target.or,
                    Kind::Min => target.min,
                    Kind::Max => target.max,
                    _ => return None,
                };
                Instruction::with3(code, v(to), v(a), v(b))
            }
            Act::Onto { kind, a, b, c } => {
                Instruction::with3(target.onto[fused(kind)?], v(a), v(b), v(c))
            }
            Act::OntoSum { kind, a, b, c } => {
                Instruction::with3(target.onto_sum[fused(kind)?], v(c), v(a), v(b))
            }
            Act::Store { row, from, streams } => {
                let to = self.pack(row, 0)?;
                let code = if streams { target.stream } else { target.store };
                Instruction::with2(code, to, v(from))
            }
        };
        self.put(instruction.ok()?)
    }
}

/// Downwards, without a word about what is not exact.
const FLOOR: i32 = 0b1001;

/// The number of a comparison: quiet ones.
fn predicate(relation: Relation) -> i32 {
    match relation {
        Relation::Equal => 0x00,
        Relation::Unordered => 0x03,
        Relation::Less => 0x11,
        Relation::LessOrEqual => 0x12,
    }
}

/// The place of an operation among the fused ones.
fn fused(kind: Kind) -> Option<usize> {
    match kind {
        Kind::MulAdd => Some(0),
        Kind::MulSub => Some(1),
        Kind::NegMulAdd => Some(2),
        _ => None,
    }
}
