import { X } from "lucide";
import { expect, test } from "vitest";
import { Icon } from "../../src/frame/icon";

test("an icon has lines of 1.5 pixels at each size and is hidden from screen readers", () => {
  for (const size of [12, 18, 24]) {
    const { props } = Icon({ icon: X, size });
    expect(props).toMatchObject({ width: size, "aria-hidden": "true" });
    expect((Number(props["stroke-width"]) * size) / 24).toBeCloseTo(1.5);
    expect(props.children).toHaveLength(X.length);
  }
});
