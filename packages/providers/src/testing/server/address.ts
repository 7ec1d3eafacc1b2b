// Decides whether a provider of an api answers at a path.
import { PROVIDERS } from "@clew/plugin-sdk/host";
import type { EmulatedWire } from "./wire.ts";

/** Google's and Anthropic's models on Vertex have addresses of their own. */
const ON_VERTEX =
  /^\/v1(?:beta1)?(?:\/projects\/[^/]+\/locations\/[^/]+)?\/publishers\/[^/]+\/models\/[^/]+$/;

type Addressed = Pick<EmulatedWire<never>, "api" | "basePath" | "ends">;

/**
 * A provider whose api begins at its root counts for nothing where others have a path: to forget
 * that path is the mistake that shall be found.
 */
export function isAddressOf({ api, basePath, ends }: Addressed, path: string): boolean {
  const bases = PROVIDERS.filter(({ apis }) => apis.includes(api)).flatMap(({ baseUrl }) =>
    baseUrl !== undefined && URL.canParse(baseUrl) ? [pathOf(baseUrl)] : [],
  );
  const known = [basePath, ...bases.filter((base) => base !== "")];
  return (
    ON_VERTEX.test(path) ||
    known.some((base) => path.startsWith(base) && ends.test(path.slice(base.length)))
  );
}

const pathOf = (address: string): string => new URL(address).pathname.replace(/\/$/, "");
