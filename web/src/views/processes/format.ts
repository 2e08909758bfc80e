// Durations and sizes as short texts.

/** Formats `seconds` using the two largest units: "1 h 5 min". */
export function age(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
}

/** Formats a number of bytes with a binary unit. */
export function memoryText(bytes: number): string {
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KiB`;
  if (bytes < 1_073_741_824) return `${Math.round(bytes / 1_048_576)} MiB`;
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`;
}
