//! Boxes that were moved, scaled, turned or tilted: four corners, and the way in and out.

use super::input::Point;

/// The corners of a box on the screen, clockwise from its upper left one.
#[derive(Clone, Copy, Debug)]
pub struct Quad {
    /// The projective map from the unit square: `x = (a u + b v + c) / (g u + h v + 1)` and so on.
    to: [f64; 8],
}

impl Quad {
    /// From the protocol's eight numbers; `None` if there are fewer, or if the box is a line.
    pub fn new(corners: &[f64]) -> Option<Quad> {
        let &[x0, y0, x1, y1, x2, y2, x3, y3] = corners else {
            return None;
        };
        let (sx, sy) = (x0 - x1 + x2 - x3, y0 - y1 + y2 - y3);
        let (dx1, dy1, dx2, dy2) = (x1 - x2, y1 - y2, x3 - x2, y3 - y2);
        let area = dx1 * dy2 - dx2 * dy1;
        if area.abs() < 1e-9 {
            return None;
        }
        // Zero for a parallelogram: everything but perspective.
        let g = (sx * dy2 - dx2 * sy) / area;
        let h = (dx1 * sy - sx * dy1) / area;
        let to = [
            x1 - x0 + g * x1,
            x3 - x0 + h * x3,
            x0,
            y1 - y0 + g * y1,
            y3 - y0 + h * y3,
            y0,
            g,
            h,
        ];
        Some(Quad { to })
    }

    /// Where a point of a box of that size is on the screen.
    pub fn map(&self, at: Point, size: (f64, f64)) -> Point {
        let (u, v) = (at.x / size.0, at.y / size.1);
        let [a, b, c, d, e, f, g, h] = self.to;
        let w = g * u + h * v + 1.0;
        Point {
            x: (a * u + b * v + c) / w,
            y: (d * u + e * v + f) / w,
        }
    }

    /// Which point of a box of that size is there on the screen.
    pub fn unmap(&self, at: Point, size: (f64, f64)) -> Option<Point> {
        let [a, b, c, d, e, f, g, h] = self.to;
        let (p, q) = (a - g * at.x, b - h * at.x);
        let (r, s) = (d - g * at.y, e - h * at.y);
        let area = p * s - q * r;
        if area.abs() < 1e-9 {
            return None;
        }
        let (x, y) = (at.x - c, at.y - f);
        Some(Point {
            x: (x * s - q * y) / area * size.0,
            y: (p * y - x * r) / area * size.1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Point, x: f64, y: f64) {
        assert!((a.x - x).abs() < 1e-6 && (a.y - y).abs() < 1e-6, "{a:?}");
    }

    #[test]
    fn a_half_sized_box_halves() {
        let quad = Quad::new(&[10.0, 20.0, 110.0, 20.0, 110.0, 70.0, 10.0, 70.0]).unwrap();
        let at = Point { x: 100.0, y: 50.0 };
        close(quad.map(at, (200.0, 100.0)), 60.0, 45.0);
        close(
            quad.unmap(Point { x: 60.0, y: 45.0 }, (200.0, 100.0))
                .unwrap(),
            100.0,
            50.0,
        );
    }

    #[test]
    fn a_tilted_box_keeps_its_corners_and_comes_back() {
        let quad = Quad::new(&[0.0, 0.0, 100.0, 10.0, 90.0, 90.0, 5.0, 100.0]).unwrap();
        close(quad.map(Point { x: 1.0, y: 1.0 }, (1.0, 1.0)), 90.0, 90.0);
        close(quad.map(Point { x: 0.0, y: 1.0 }, (1.0, 1.0)), 5.0, 100.0);
        let at = quad.map(Point { x: 0.3, y: 0.8 }, (1.0, 1.0));
        close(quad.unmap(at, (1.0, 1.0)).unwrap(), 0.3, 0.8);
    }

    #[test]
    fn a_line_is_no_box() {
        assert!(Quad::new(&[0.0; 8]).is_none());
        assert!(Quad::new(&[0.0; 3]).is_none());
    }
}
