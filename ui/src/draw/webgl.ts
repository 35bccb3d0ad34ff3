// Rectangles by WebGL2, instanced: panning and zooming change uniforms and upload nothing.

import { rgb, SHADE } from "./palette";
import type { Painter, Placing, Spans } from "./painter";

const VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec2 corner;
layout(location=1) in vec2 ends;
layout(location=2) in float lane;
layout(location=3) in float color;
layout(location=4) in float tall;
uniform vec2 size;      // of the picture, CSS pixels
uniform float from;     // left edge, units from the spans' origin
uniform float scale;    // pixels per unit
uniform float top;
uniform float laneHeight;
uniform float flatten;
uniform float faded;
uniform vec4 fills[16];
uniform vec4 ground;
flat out vec4 ink;
void main() {
  float left = (ends.x - from) * scale;
  float right = (ends.y - from) * scale;
  if (right - left > 3.0) right -= 0.6;
  right = max(right, left + 1.0);
  float room = laneHeight - (laneHeight > 6.0 ? 1.0 : 0.0);
  float height = max(min(2.0, room), room * tall);
  float foot = top + lane * laneHeight * (1.0 - flatten) + room;
  vec2 at = vec2(mix(left, right, corner.x), foot - height * corner.y);
  at.x = clamp(at.x, -8.0, size.x + 8.0);
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
  int number = int(color) & 15;
  float shade = 1.0 + (float(int(color) >> 4) - 8.0) * ${SHADE};
  ink = mix(vec4(clamp(fills[number].rgb * shade, 0.0, 1.0), 1.0), ground, faded);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 ink;
out vec4 shown;
void main() { shown = ink; }`;

interface Kept { array: WebGLVertexArrayObject; buffers: WebGLBuffer[] }

export class WebGlPainter implements Painter {
  readonly name = "webgl2";
  private program!: WebGLProgram;
  private places!: Record<string, WebGLUniformLocation | null>;
  private corners!: WebGLBuffer;
  private kept = new WeakMap<Spans, Kept>();
  private size: [number, number, number] = [1, 1, 1];
  private fills: Float32Array = new Float32Array(64);
  private ground: [number, number, number] = [1, 1, 1];

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.build();
    // A driver may take the context away; what it kept is uploaded again when it is back.
    gl.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    gl.canvas.addEventListener("webglcontextrestored", () => {
      this.kept = new WeakMap();
      this.build();
    });
  }

  private build(): void {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
      const shader = gl.createShader(kind);
      if (shader === null) return;
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`the shader does not link: ${gl.getProgramInfoLog(program) ?? ""}`);
    }
    this.program = program;
    const names = ["size", "from", "scale", "top", "laneHeight", "flatten", "faded", "fills", "ground"];
    this.places = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)]));
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
  }

  colors(fills: readonly string[], ground: string): void {
    this.fills = new Float32Array(fills.flatMap((hex) => [...rgb(hex), 1]));
    this.ground = rgb(ground);
  }

  begin(width: number, height: number, ratio: number): void {
    const gl = this.gl;
    this.size = [width, height, ratio];
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (gl.canvas.width !== wide || gl.canvas.height !== high) {
      gl.canvas.width = wide;
      gl.canvas.height = high;
    }
    gl.viewport(0, 0, wide, high);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    gl.useProgram(this.program);
    gl.uniform2f(this.places["size"] ?? null, width, height);
    gl.uniform4fv(this.places["fills"] ?? null, this.fills);
    gl.uniform4f(this.places["ground"] ?? null, ...this.ground, 1);
  }

  draw(spans: Spans, placing: Placing): void {
    const gl = this.gl;
    const [width, height, ratio] = this.size;
    const [left, right] = [Math.max(0, placing.clip[0]), Math.min(width, placing.clip[1])];
    const [top, bottom] = [Math.max(0, placing.clipRows[0]), Math.min(height, placing.clipRows[1])];
    if (spans.length === 0 || right <= left || bottom <= top) return;
    const [x, end] = [Math.round(left * ratio), Math.round(right * ratio)];
    gl.scissor(x, Math.round((height - bottom) * ratio), end - x, Math.round((bottom - top) * ratio));
    gl.uniform1f(this.places["from"] ?? null, placing.from);
    gl.uniform1f(this.places["scale"] ?? null, placing.pixelsPerUnit);
    gl.uniform1f(this.places["top"] ?? null, placing.top);
    gl.uniform1f(this.places["laneHeight"] ?? null, placing.laneHeight);
    gl.uniform1f(this.places["flatten"] ?? null, placing.flat ? 1 : 0);
    gl.uniform1f(this.places["faded"] ?? null, placing.faded);
    gl.bindVertexArray(this.arrayOf(spans));
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, spans.length);
  }

  private arrayOf(spans: Spans): WebGLVertexArrayObject {
    const known = this.kept.get(spans);
    if (known !== undefined) return known.array;
    const gl = this.gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    const buffers = [
      this.upload(1, 2, spans.ends, gl.FLOAT, false),
      this.upload(2, 1, spans.lane, gl.UNSIGNED_SHORT, false),
      this.upload(3, 1, spans.color, gl.UNSIGNED_BYTE, false),
      this.upload(4, 1, spans.height, gl.UNSIGNED_BYTE, true),
    ];
    this.kept.set(spans, { array, buffers });
    return array;
  }

  private upload(place: number, parts: number, values: Float32Array | Uint16Array | Uint8Array, type: number, normal: boolean): WebGLBuffer {
    const gl = this.gl;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, parts, type, normal, 0, 0);
    gl.vertexAttribDivisor(place, 1);
    return buffer;
  }

  forget(spans: Spans): void {
    const kept = this.kept.get(spans);
    if (kept === undefined) return;
    this.gl.deleteVertexArray(kept.array);
    for (const buffer of kept.buffers) this.gl.deleteBuffer(buffer);
    this.kept.delete(spans);
  }

  close(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
