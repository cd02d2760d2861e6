//! Literals as they are written in attributes.

use std::fmt;

use syn::{Expr, ExprLit, Lit, UnOp};

/// The expression without parentheses and the invisible groups of macros.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => bare(&group.expr),
        Expr::Paren(paren) => bare(&paren.expr),
        other => other,
    }
}

pub(crate) fn literal(expr: &Expr) -> Option<&Lit> {
    match bare(expr) {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        _ => None,
    }
}

/// A number as it was written.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(crate) enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Number {
    /// A number, if the expression is written as one: finite, perhaps with a
    /// sign. `1e999` is none.
    pub(crate) fn read(expr: &Expr) -> Option<Self> {
        match bare(expr) {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                Some(match Self::read(&unary.expr)? {
                    Self::Whole(number) => Self::Whole(number.checked_neg()?),
                    Self::Fraction(number) => Self::Fraction(-number),
                })
            }
            other => match literal(other)? {
                Lit::Int(number) => number.base10_parse().ok().map(Self::Whole),
                Lit::Float(number) => {
                    let number: f64 = number.base10_parse().ok()?;
                    number.is_finite().then_some(Self::Fraction(number))
                }
                _ => None,
            },
        }
    }

    /// To compare with; literals beyond 2^53 lose digits, not their order of magnitude.
    #[expect(
        clippy::cast_precision_loss,
        reason = "only compared with numbers that are written as fractions"
    )]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Fraction(number) => number,
        }
    }

    pub(crate) fn is_less_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a < b,
            (a, b) => a.as_f64() < b.as_f64(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Fraction(number) => number.fmt(f),
        }
    }
}
