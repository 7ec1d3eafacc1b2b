// Rules of the Messages wire about images.

import { imageFacts } from "../../server/image.ts";
import { type At, first, isBase64, record, text, words } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import { imagesOf, type MessagesView } from "../view.ts";

const MEDIA_TYPES = words("image/jpeg image/png image/gif image/webp");
const MOST_BYTES = 5 * 2 ** 20;
const MOST_PIXELS = 8000;
/** Of each, when there are more than `MANY`. */
const MOST_PIXELS_OF_MANY = 2000;
const MANY = 20;
const MOST_IMAGES = 100;

const sourceOf = ({ value }: At) => record(value.source);
const inline = (view: MessagesView) =>
  imagesOf(view).filter((image) => sourceOf(image).type === "base64");
const dataOf = (image: At) => text(sourceOf(image).data);
const factsOf = (image: At) => imageFacts(dataOf(image));
const tooWide = (limit: number) => (image: At) => (factsOf(image)?.longestSide ?? 0) > limit;

export const IMAGE_RULES: readonly WireRule<MessagesView>[] = [
  rejects("image.source", (view) =>
    first(
      imagesOf(view),
      (image) => !["base64", "url", "file"].includes(text(sourceOf(image).type)),
      ({ path }) => `${path}.image.source: Field required`,
    ),
  ),
  rejects("image.media_type", (view) =>
    first(
      inline(view),
      (image) => !MEDIA_TYPES.has(text(sourceOf(image).media_type)),
      ({ path }) =>
        `${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    ),
  ),
  rejects("image.base64", (view) =>
    first(
      inline(view),
      (image) => !isBase64(dataOf(image)),
      ({ path }) => `${path}.image.source.base64: invalid base64 data`,
    ),
  ),
  rejects("image.mismatch", (view) =>
    first(
      inline(view),
      (image) => {
        const facts = factsOf(image);
        const stated = text(sourceOf(image).media_type);
        return facts !== undefined && MEDIA_TYPES.has(stated) && facts.mediaType !== stated;
      },
      (image) =>
        `${image.path}.image.source.base64: The image was specified using the ${text(sourceOf(image).media_type)} media type, but the image appears to be a ${factsOf(image)?.mediaType} image`,
    ),
  ),
  rejects("image.size", (view) =>
    first(
      inline(view),
      (image) => dataOf(image).length > MOST_BYTES,
      (image) =>
        `${image.path}.image.source.base64: image exceeds 5 MB maximum: ${dataOf(image).length} bytes > ${MOST_BYTES} bytes`,
    ),
  ),
  rejects("image.dimensions", (view) =>
    first(
      inline(view),
      tooWide(MOST_PIXELS),
      ({ path }) =>
        `${path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size: ${MOST_PIXELS} pixels`,
    ),
  ),
  rejects("image.many_dimensions", (view) =>
    imagesOf(view).length <= MANY
      ? undefined
      : first(
          inline(view),
          (image) => tooWide(MOST_PIXELS_OF_MANY)(image) && !tooWide(MOST_PIXELS)(image),
          ({ path }) =>
            `${path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: ${MOST_PIXELS_OF_MANY} pixels`,
        ),
  ),
  rejects("image.count", (view) =>
    imagesOf(view).length > MOST_IMAGES
      ? `messages: too many images and documents: ${imagesOf(view).length} > ${MOST_IMAGES}`
      : undefined,
  ),
];
