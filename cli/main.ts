// placeholder
process.stdout.write('natter\n')
