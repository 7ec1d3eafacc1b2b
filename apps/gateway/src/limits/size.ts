// How people read a number of bytes.

/** Whole MiB where it is some, else kB. */
export function describeBytes(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  if (mebibytes >= 1) return `${Number(mebibytes.toFixed(1))} MiB`;
  return `${Math.ceil(bytes / 1024)} KiB`;
}

/** Bytes of UTF-8 in all of them. */
export function bytesOf(texts: Iterable<string>): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return bytes;
}
