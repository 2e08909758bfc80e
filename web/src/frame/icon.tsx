// Draws a Lucide icon.

import type { IconNode } from "lucide";
import { h } from "preact";

export interface IconProps {
  icon: IconNode;
  /** Width and height in CSS pixels. */
  size?: number;
}

/** The icon has no accessible name, because the element around it has one. */
export function Icon({ icon, size = 18 }: IconProps) {
  const parts = icon.map(([tag, attributes]) => h(tag, attributes));
  return (
    <svg
      class="lucide"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width={(1.5 * 24) / size}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {parts}
    </svg>
  );
}
