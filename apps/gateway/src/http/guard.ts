// Which requests come from other sites' pages, or by a name that is not the gateway's.

/** How a request says where it is going and where it comes from. */
export interface Arrival {
  method: string;
  path: string;
  host: string | undefined;
  origin: string | undefined;
  /** `Sec-Fetch-Site`, `-Mode` and `-Dest`, which only browsers send. */
  fetchSite: string | undefined;
  fetchMode: string | undefined;
  fetchDest: string | undefined;
}

/** The names that are the gateway's. */
export interface OwnNames {
  port: number;
  /** It is reached from other machines, by any of its addresses. */
  isOpenToNetwork: boolean;
  /** `gateway.hosts`. */
  hosts: readonly string[];
}

/**
 * Pure. Why a request is refused; null when it is not. A foreign Host means DNS rebinding, a
 * foreign Origin or site another site's page; a page at another port is one as well.
 */
export function refuseForeign(arrival: Arrival, names: OwnNames): string | null {
  const { host, origin } = arrival;
  if (host === undefined || !isOwnHost(host.toLowerCase(), names))
    return `This server answers only to 127.0.0.1:${names.port}; the request named another host. Names that are its own stand in gateway.hosts.`;
  if (origin !== undefined && !isOwnOrigin(origin.toLowerCase(), names)) return FROM_ANOTHER_SITE;
  const { fetchSite } = arrival;
  if (fetchSite === undefined || fetchSite === "same-origin" || fetchSite === "none") return null;
  return opensPage(arrival) ? null : FROM_ANOTHER_SITE;
}

const FROM_ANOTHER_SITE = "Requests from pages of other sites are refused.";

function isOwnHost(host: string, { port, isOpenToNetwork, hosts }: OwnNames): boolean {
  const [name = "", given] = splitPort(host);
  const isOnPort = given === String(port);
  if (isOnPort && ["127.0.0.1", "localhost", "[::1]"].includes(name)) return true;
  // Rebinding needs a name.
  if (isOpenToNetwork && isOnPort && IS_ADDRESS.test(name)) return true;
  return hosts.some((own) => own.toLowerCase() === host || own.toLowerCase() === name);
}

const IS_ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/** The port is undefined where none is named. */
function splitPort(host: string): [string, string | undefined] {
  const parted = /^(.*):(\d{1,5})$/.exec(host);
  return parted === null ? [host, undefined] : [parted[1] ?? "", parted[2]];
}

/** What stands before the gateway may speak TLS. */
function isOwnOrigin(origin: string, names: OwnNames): boolean {
  const [, scheme, host = ""] = /^(https?):\/\/(.+)$/.exec(origin) ?? [];
  if (scheme === undefined) return false;
  const isOwn = isOwnHost(host, names);
  return scheme === "http" ? isOwn : isOwn && isNamed(host, names);
}

const isNamed = (host: string, { hosts }: OwnNames) =>
  hosts.some((own) => [host, splitPort(host)[0]].includes(own.toLowerCase()));

/** A link to the page, somewhere else: it opens the page and hands nothing to who linked it. */
const opensPage = ({ method, path, fetchMode, fetchDest }: Arrival) =>
  method === "GET" &&
  fetchMode === "navigate" &&
  fetchDest === "document" &&
  !/^\/(api|v1|v1beta|metrics)(\/|$)/.test(path);
