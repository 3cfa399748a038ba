// Runs in the page: scrolls the list for three seconds and counts the frames that came late.
new Promise(resolve => {
  const box = document.querySelector('.virtual-box')
  const gaps = []
  const began = performance.now()
  let last = began
  box.scrollTop = 0
  const step = now => {
    gaps.push(now - last)
    last = now
    box.scrollTop += 400
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) box.scrollTop = 0
    if (now - began < 3000) requestAnimationFrame(step)
    else {
      const missed = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / (1000 / 60)) - 1), 0)
      resolve({ missed, all: gaps.length + missed })
    }
  }
  requestAnimationFrame(step)
})
