import { expect, it } from "vitest";
import { conversationAsMarkdown } from "../commands/export.ts";
import { formatEntry } from "./format-entry.ts";
import { shownEntries } from "./shown.ts";

const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };

const entryOf = (images: number) => ({
  ...{ type: "message" as const, id: "e1", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" },
  message: {
    role: "user" as const,
    content: [
      { type: "text" as const, text: "Look." },
      ...Array.from({ length: images }, () => image),
    ],
  },
});

const shown = (images: number) => formatEntry(shownEntries([entryOf(images)])[0]!);

it("images of a message are told beside its words, in the terminal and in an export", () => {
  expect(shown(0)).not.toContain("image");
  expect(shown(1)).toContain("  Look.\n  (1 image)\n");
  expect(shown(2)).toContain("  (2 images)\n");
  expect(conversationAsMarkdown("A title", [entryOf(1)])).toContain("Look.\n\n(1 image)\n");
});
