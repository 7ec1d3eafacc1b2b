import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { assistant, result, text, user } from "../__fixtures__/messages.ts";
import { decodeBase64, encodeBase64, isBase64 } from "../images/base64.ts";
import { ContentCache } from "../images/cache.ts";
import { readImageHeader } from "../images/header.ts";
import { planSides } from "../images/reduce.ts";
import { createSharpCodec } from "../sharp.ts";
import { TEXTS } from "../texts.ts";
import { sanitizeContentBlocksImages, sanitizeSessionMessagesImages } from "./images.ts";

const imageCodec = createSharpCodec();

async function picture(
  width: number,
  height: number,
  format: "png" | "jpeg" | "webp" | "gif" = "png",
) {
  const bytes = await sharp({ create: { width, height, channels: 3, background: "#369" } })
    [format]()
    .toBuffer();
  return { type: "image", data: bytes.toString("base64"), mimeType: `image/${format}` };
}

const sizeOf = (block: unknown) =>
  readImageHeader(decodeBase64((block as { data: string }).data))?.size;

describe("R4: images", () => {
  it("keeps the bytes of an image within the limits, exactly at them too", async () => {
    const blocks = [text("a"), await picture(1200, 10)];
    expect(await sanitizeContentBlocksImages(blocks, { imageCodec })).toBe(blocks);
  });

  it("makes a larger one a JPEG that fits, keeps its aspect, and never enlarges", async () => {
    const [wide, small] = await sanitizeContentBlocksImages(
      [await picture(2400, 600), await picture(40, 20)],
      {
        imageCodec,
        imageLimits: { maxDimensionPx: 300 },
      },
    );
    expect(wide).toMatchObject({ type: "image", mimeType: "image/jpeg" });
    expect(sizeOf(wide)).toEqual({ width: 300, height: 75 });
    expect(sizeOf(small)).toEqual({ width: 40, height: 20 });
  });

  it("tries sides downwards, none above the limit, none twice", () => {
    expect(planSides(5000, 1200)).toEqual([1200, 1000, 800]);
    expect(planSides(1300, 2000)).toEqual([1800, 1600, 1400, 1300, 1200, 1000, 800]);
    expect(planSides(700, 300)).toEqual([300]);
  });

  it("says what it left out, and why", async () => {
    const image = (data: unknown, mimeType: unknown = "image/png") => ({
      type: "image",
      data,
      mimeType,
    });
    const large = await picture(1300, 10);
    const texts = await sanitizeContentBlocksImages(
      [image(7), image(" "), image("%%%"), image("a-_b"), large],
      { label: "here" },
    );
    expect(texts).toEqual([
      text("[here] omitted image payload: missing data or mimeType"),
      text("[here] omitted empty image payload"),
      text("[here] omitted image payload: invalid base64"),
      text("[here] omitted image payload: invalid base64"),
      text(
        `[here] omitted image payload: Error: Image could not be reduced below 5MB (got 0.00MB)`,
      ),
    ]);
  });

  it("refuses a decompression bomb without decoding it, with a codec and without", async () => {
    const bomb = await picture(10, 10);
    const bytes = decodeBase64(bomb.data);
    new DataView(bytes.buffer).setUint32(16, 30_000);
    new DataView(bytes.buffer).setUint32(20, 30_000);
    const refusing = {
      sizeOf: imageCodec.sizeOf,
      toJpeg: () => Promise.reject(new Error("must not be asked")),
    };
    for (const options of [{ imageCodec: refusing }, {}]) {
      const [block] = await sanitizeContentBlocksImages(
        [{ ...bomb, data: encodeBase64(bytes) }],
        options,
      );
      expect(block).toMatchObject({
        type: "text",
        text: expect.stringContaining("could not be reduced"),
      });
    }
  });

  it("corrects the type by the first characters and takes blanks out of the data", async () => {
    const png = await picture(4, 4);
    const broken = { ...png, mimeType: "image/jpeg", data: png.data.replace(/(.{20})/, "$1\n ") };
    expect(await sanitizeContentBlocksImages([broken], { imageCodec })).toEqual([png]);
  });

  it("removes blank text, gives an emptied message a text and drops an emptied assistant", async () => {
    const { messages } = await sanitizeSessionMessagesImages({
      messages: [
        user([text(" ")]),
        assistant([text(""), text("a")]),
        assistant([]),
        result("a", { content: "as a string" }),
        result("b", { content: null }),
      ],
    });
    expect(messages).toEqual([
      user([text(TEXTS.emptyContent)]),
      assistant([text("a")]),
      result("a", { content: [text("as a string")] }),
      result("b", { content: [text(TEXTS.emptyContent)] }),
    ]);
  });

  it("asks the codec once for the same content, whoever holds it", async () => {
    const image = await picture(1500, 30);
    let asked = 0;
    const counting = {
      sizeOf: imageCodec.sizeOf,
      toJpeg: (request: Parameters<typeof imageCodec.toJpeg>[0]) => {
        asked += 1;
        return imageCodec.toJpeg(request);
      },
    };
    const first = await sanitizeContentBlocksImages([{ ...image }], { imageCodec: counting });
    expect(await sanitizeContentBlocksImages([{ ...image }], { imageCodec: counting })).toEqual(
      first,
    );
    expect(asked).toBe(1);
  });

  it("forgets the least recently used images when its memory is full", async () => {
    const cache = new ContentCache<string>(1000);
    const load = (name: string) =>
      cache.get(
        name,
        "",
        async () => name.repeat(300),
        (value) => value.length,
      );
    for (const name of ["a", "b", "a", "c", "d"]) await load(name);
    expect(cache.bytes).toBeLessThanOrEqual(1000);
    let missed = false;
    await cache.get(
      "b",
      "",
      async () => {
        missed = true;
        return "";
      },
      () => 0,
    );
    expect(missed).toBe(true);
  });

  it("reads the size of every kind a provider takes from its header", async () => {
    for (const format of ["png", "jpeg", "webp", "gif"] as const) {
      const block = await picture(37, 21, format);
      expect(readImageHeader(decodeBase64(block.data))).toEqual({
        mimeType: block.mimeType,
        size: { width: 37, height: 21 },
      });
    }
    expect(readImageHeader(new Uint8Array([1, 2, 3]))).toBeUndefined();
  });

  it("writes and reads base64 of any length", () => {
    for (const length of [0, 1, 2, 3, 100_001]) {
      const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
      const encoded = encodeBase64(bytes);
      expect(isBase64(encoded)).toBe(true);
      expect(decodeBase64(encoded)).toEqual(bytes);
    }
  });
});
