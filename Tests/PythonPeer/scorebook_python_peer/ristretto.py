"""The group ristretto255, in pure Python, from RFC 9496.

Not constant-time: enough for a test peer, whose secrets are six digits that live five minutes.
"""

from dataclasses import dataclass

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def _is_negative(number: int) -> bool:
    return number % P & 1 == 1


def _absolute(number: int) -> int:
    number %= P
    return P - number if number & 1 else number


def _sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """SQRT_RATIO_M1 (RFC 9496 section 4.2): whether u/v is a square, and the root of it or of SQRT_M1·u/v."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    u %= P
    correct = check == u
    flipped = check == -u % P
    flipped_i = check == -u * SQRT_M1 % P
    if flipped or flipped_i:
        r = r * SQRT_M1 % P
    return correct or flipped, _absolute(r)


def _root(u: int) -> int:
    square, root = _sqrt_ratio(u, 1)
    assert square
    return root


INVSQRT_A_MINUS_D = _sqrt_ratio(1, -1 - D)[1]
SQRT_AD_MINUS_ONE = -_root(-D - 1) % P  # the odd root is the one of RFC 9496 section 4.1
ONE_MINUS_D_SQ = (1 - D * D) % P
D_MINUS_ONE_SQ = (D - 1) * (D - 1) % P


@dataclass(frozen=True)
class Element:
    """A group element, as one of the points that stand for it: extended Edwards coordinates."""

    x: int
    y: int
    z: int
    t: int

    @classmethod
    def decode(cls, encoding: bytes) -> "Element | None":
        """The element with this encoding (RFC 9496 section 4.3.1); None if there is none."""
        s = int.from_bytes(encoding, "little")
        if len(encoding) != 32 or s >= P or _is_negative(s):
            return None
        ss = s * s % P
        u1, u2 = (1 - ss) % P, (1 + ss) % P
        u2_sqr = u2 * u2 % P
        v = (-(D * u1 * u1) - u2_sqr) % P
        square, invsqrt = _sqrt_ratio(1, v * u2_sqr % P)
        den_x = invsqrt * u2 % P
        den_y = invsqrt * den_x * v % P
        x = _absolute(2 * s * den_x)
        y = u1 * den_y % P
        t = x * y % P
        if not square or _is_negative(t) or y == 0:
            return None
        return cls(x, y, 1, t)

    def encode(self) -> bytes:
        """RFC 9496 section 4.3.2."""
        x0, y0, z0, t0 = self.x, self.y, self.z, self.t
        u1 = (z0 + y0) * (z0 - y0) % P
        u2 = x0 * y0 % P
        invsqrt = _sqrt_ratio(1, u1 * u2 * u2 % P)[1]
        den1, den2 = invsqrt * u1 % P, invsqrt * u2 % P
        z_inv = den1 * den2 * t0 % P
        if _is_negative(t0 * z_inv):
            x, y, den_inv = y0 * SQRT_M1 % P, x0 * SQRT_M1 % P, den1 * INVSQRT_A_MINUS_D % P
        else:
            x, y, den_inv = x0, y0, den2
        if _is_negative(x * z_inv):
            y = -y
        return _absolute(den_inv * (z0 - y)).to_bytes(32, "little")

    @property
    def is_neutral(self) -> bool:
        """RFC 9496 section 4.3.3: equal to the neutral element."""
        return self.x * self.y % P == 0

    def add(self, other: "Element") -> "Element":
        a = (self.y - self.x) * (other.y - other.x) % P
        b = (self.y + self.x) * (other.y + other.x) % P
        c = 2 * D * self.t * other.t % P
        d = 2 * self.z * other.z % P
        e, f, g, h = b - a, d - c, d + c, b + a
        return Element(e * f % P, g * h % P, f * g % P, e * h % P)

    def times(self, scalar: int) -> "Element":
        result, power = NEUTRAL, self
        while scalar:
            if scalar & 1:
                result = result.add(power)
            power = power.add(power)
            scalar >>= 1
        return result


NEUTRAL = Element(0, 1, 1, 0)


def one_way_map(data: bytes) -> Element:
    """An element from 64 uniform bytes (RFC 9496 section 4.3.4)."""
    return _map(data[:32]).add(_map(data[32:64]))


def _map(half: bytes) -> Element:
    t = int.from_bytes(half, "little") & (1 << 255) - 1
    r = SQRT_M1 * t * t % P
    u = (r + 1) * ONE_MINUS_D_SQ % P
    v = (-1 - r * D) * (r + D) % P
    square, s = _sqrt_ratio(u, v)
    c = P - 1
    if not square:
        s, c = -_absolute(s * t) % P, r
    n = (c * (r - 1) * D_MINUS_ONE_SQ - v) % P
    w0, w1, w2, w3 = 2 * s * v, n * SQRT_AD_MINUS_ONE, 1 - s * s, 1 + s * s
    return Element(w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P)
