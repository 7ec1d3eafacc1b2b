import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hashOf, testBlobs } from "../testing/blob-rules.ts";
import { temporaryHome } from "../testing/home.ts";
import { folderBlobs } from "./folder.ts";

testBlobs("a folder", async () => {
  const folder = await temporaryHome();
  const again = () => folderBlobs({ folder, prefix: "here/" });
  const countOf = async () => {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found.filter((each) => each.isFile()).length;
  };
  return { blobs: again(), again, countOf };
});

it("a folder that is away is told, and nothing passes for lost or is put in its place", async () => {
  const folder = join(await temporaryHome(), "share");
  await mkdir(folder);
  const blobs = folderBlobs({ folder, prefix: "" });
  const bytes = new TextEncoder().encode("text");
  const name = { agentId: "main", hash: hashOf(bytes) };
  await blobs.put(name, bytes);
  await rm(folder, { recursive: true });
  for (const work of [
    () => blobs.get(name),
    () => blobs.put(name, bytes),
    () => blobs.drop("main", [name.hash]),
  ])
    await expect(work()).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("storage.blobs.folder"),
    });
});
