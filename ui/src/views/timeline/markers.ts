// Markers: times with a note each, as the address has them: `1500:first step~2400:`.

export interface Marker { at: number; note: string }

const MOST = 200;

/** The address has `~` between markers, so notes have none. */
export const writtenMarkers = (markers: readonly Marker[]): string => markers.map(({ at, note }) => `${Math.round(at)}:${note.replaceAll("~", "-")}`).join("~");

export function readMarkers(text: string): Marker[] {
  const found = text.split("~").map((part) => /^(-?\d+):(.*)$/s.exec(part)).filter((match) => match !== null).slice(0, MOST);
  return found.map((match) => ({ at: Number(match[1]), note: match[2] ?? "" })).sort((one, other) => one.at - other.at);
}
