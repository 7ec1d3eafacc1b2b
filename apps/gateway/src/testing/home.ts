// A throw-away $CLEW_HOME for one test.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** `keep`: until the last test of the file. */
export async function temporaryHome({ keep = false } = {}): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "clew-test-"));
  // What a killed command started beside itself may still write its last file.
  const removal = { recursive: true, force: true, maxRetries: 5, retryDelay: 200 };
  (keep ? afterAll : onTestFinished)(() => rm(home, removal));
  return home;
}

/** A home whose gateway, if one is started or looked for, has a port that nobody listens on. */
export async function homeWithOwnPort(options: { keep?: boolean } = {}): Promise<string> {
  const home = await temporaryHome(options);
  const port = await unusedPort();
  await writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port } }));
  return home;
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
