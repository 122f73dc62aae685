// The curves of two replays over the calls, as a slider: the page hears of a call once the reader rests. With
// replay_plot.js one script.
const WAIT = 250;

export default function ({ data, parentElement, setStateValue }) {
  const host = parentElement.querySelector('.plot');
  const state = (host.__compare ??= { sent: [] });
  state.send = (call) => setStateValue('call', call);
  const { plot = (state.plot = new Plot(host, (call) => go(state, call))) } = state;
  const version = JSON.stringify(data.curves);
  if (state.version !== version) {
    state.version = version;
    state.count = data.curves.count;
    const at = (values, call) => (call <= values.length ? values[call - 1].toLocaleString('en-US') : 'ended');
    plot.show({ ...data.curves, tell: (call) => [`call ${call.toLocaleString('en-US')}`, ...data.curves.series.map((each) => `${at(each.values, call)} ${each.name}`)].join('\n') }, data.call);
    parentElement.querySelector('.legend').replaceChildren(...data.curves.series.map((each) => {
      const item = document.createElement('span'), swatch = document.createElement('i');
      swatch.className = each.style;
      item.append(swatch, each.name);
      return item;
    }));
  }
  const echo = state.sent.indexOf(data.call);
  if (echo >= 0) state.sent.splice(0, echo + 1);
  else if (state.told !== data.call) plot.stand(data.call);
  state.told = data.call;
  host.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const to = { ArrowRight: plot.call + 1, ArrowLeft: plot.call - 1, ArrowUp: plot.call + 1, ArrowDown: plot.call - 1,
      PageUp: plot.call + 10, PageDown: plot.call - 10, Home: 1, End: state.count }[event.key];
    if (!to && to !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    go(state, to);
  };
}

function go(state, call) {
  const next = Math.max(1, Math.min(state.count, call));
  if (next === state.plot.call) return;
  state.plot.stand(next);
  clearTimeout(state.resting);
  state.resting = setTimeout(() => { state.sent.push(next); state.send(next); }, WAIT);
}
