// What the bytes of an image say of themselves, whatever the request says of them.

export interface ImageFacts {
  /** E.g. "image/png". */
  mediaType: string;
  /** The longer side, pixels; null where the header does not tell it. */
  longestSide: number | null;
  /** Of the decoded image. */
  bytes: number;
}

/** Undefined: no image that providers know. */
export function imageFacts(base64: string): ImageFacts | undefined {
  const bytes = Buffer.from(base64, "base64");
  const known = KINDS.find(({ is }) => is(bytes));
  if (known === undefined) return undefined;
  return {
    mediaType: known.mediaType,
    longestSide: known.longestSide(bytes),
    bytes: bytes.length,
  };
}

const starts = (bytes: Buffer, hex: string) => bytes.toString("hex", 0, hex.length / 2) === hex;

const KINDS = [
  {
    mediaType: "image/png",
    is: (bytes: Buffer) => starts(bytes, "89504e47"),
    longestSide: (bytes: Buffer) =>
      bytes.length < 24 ? null : Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)),
  },
  {
    mediaType: "image/gif",
    is: (bytes: Buffer) => starts(bytes, "474946"),
    longestSide: (bytes: Buffer) =>
      bytes.length < 10 ? null : Math.max(bytes.readUInt16LE(6), bytes.readUInt16LE(8)),
  },
  {
    mediaType: "image/jpeg",
    is: (bytes: Buffer) => starts(bytes, "ffd8ff"),
    longestSide: sideOfJpeg,
  },
  {
    mediaType: "image/webp",
    is: (bytes: Buffer) => starts(bytes, "52494646") && bytes.toString("latin1", 8, 12) === "WEBP",
    longestSide: () => null,
  },
];

/** Walks the segments to the one that begins a frame. */
function sideOfJpeg(bytes: Buffer): number | null {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    const beginsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (beginsFrame) return Math.max(bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7));
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
