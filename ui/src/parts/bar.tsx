// A part of a whole as a bar, with the number beside it where there is room.

interface Stretch { name: string; value: number; color: string; text: string }

/** Several parts of one whole, side by side, and their names below. */
export function Stacked(props: { parts: readonly Stretch[]; whole: number; label: string }) {
  const seen = props.parts.filter((part) => part.value > 0);
  const rest = props.whole - seen.reduce((sum, part) => sum + part.value, 0);
  const width = (value: number) => `${Math.max(0.15, (value / Math.max(1, props.whole)) * 100)}%`;
  return (
    <figure class="stacked">
      <div class="stack" role="img" aria-label={`${props.label}: ${seen.map((part) => `${part.name} ${part.text}`).join(", ")}`}>
        {seen.map((part) => <span key={part.name} data-about={`${part.name}: ${part.text}`} style={{ width: width(part.value), background: part.color }} />)}
        {rest > props.whole * 0.002 && <span class="rest" style={{ width: width(rest) }} />}
      </div>
      <figcaption>
        {seen.map((part) => (
          <span class="key" key={part.name}><i style={{ background: part.color }} />{part.name} <b>{part.text}</b></span>
        ))}
      </figcaption>
    </figure>
  );
}

export function Meter(props: { share: number; color?: string }) {
  return (
    <span class="meter" aria-hidden="true">
      <i style={{ width: `${Math.max(0, Math.min(1, props.share)) * 100}%`, ...(props.color === undefined ? {} : { background: props.color }) }} />
    </span>
  );
}
